import { appointmentHistories } from '../../catalog/resources/appointmenthistories.ts';
import { nowOf } from '../clock.ts';
import { recordChange } from '../engine/writing.ts';
import { blankRecord } from '../rendering.ts';
import { putRecord } from '../store/records.ts';
import type { Transaction } from '../store/store.ts';
import type { Draft } from './behaviour.ts';

const COPIED = ['patient', 'provider', 'operatory', 'location', 'start', 'duration', 'status', 'note'] as const;

/** Writes the immutable row for one change of an appointment made through the server (D26). */
export async function recordHistory(
  tx: Transaction,
  draft: Draft,
  action: 'CREATE' | 'UPDATE' | 'DELETE',
): Promise<void> {
  const { organization, actor, after, service } = draft;
  const now = nowOf(service);
  const id = await tx.nextId(organization.org, appointmentHistories.type);
  const copied = Object.fromEntries(COPIED.map((name) => [name, after[name]]));
  const history = {
    ...blankRecord(appointmentHistories),
    ...copied,
    id,
    appointment: { id: after.id },
    action,
    created: now,
    lastModified: now,
  };
  await putRecord(tx, organization.org, appointmentHistories, history, {}, null);
  await recordChange(tx, {
    organization,
    actor,
    resource: appointmentHistories,
    before: undefined,
    after: history,
    at: now,
  });
}
