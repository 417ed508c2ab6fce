import sql from 'sql-template-tag';
import { asId } from '../../catalog/fields/numbers.ts';
import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { nowOf } from '../clock.ts';
import { recordChange } from '../engine/writing.ts';
import { zoneOfLocation } from '../references.ts';
import { blankRecord } from '../rendering.ts';
import type { JsonRecord } from '../store/layout.ts';
import { findRecord, putRecord, type StoredRecord } from '../store/records.ts';
import type { Transaction } from '../store/store.ts';
import type { Behaviour, Draft } from './behaviour.ts';

const COPIED = [
  'start',
  'duration',
  'status',
  'operatory',
  'provider',
  'patient',
  'location',
  'other',
  'note',
] as const;

/** Missed appointments: written by changes of appointments, changed and deleted by clients (D28). */
export const missedAppointmentBehaviour: Behaviour = {
  resource: missedAppointments,
  async zone({ organization, pathId, service }) {
    const { read } = service.store;
    const row = await findRecord(read, organization, missedAppointments, asId(pathId) ?? 0);
    const location = row && (JSON.parse(row.json) as { location: { id: number } | null }).location;
    return zoneOfLocation(read, organization, location?.id);
  },
  async complete(_read, { after, before, problems }) {
    // A missed appointment is NO_SHOW or BROKEN; clearing the status would make it neither.
    if (before !== undefined && after.status === null) {
      problems.push({ code: 'field.missing', source: 'status', description: 'status must be NO_SHOW or BROKEN.' });
    }
  },
  ownValues({ row, imported, after }) {
    if (imported !== undefined) return { is_open: Number(after.rescheduledOn === null) };
    return { is_open: (row as { is_open?: number } | undefined)?.is_open ?? 1 };
  },
};

function isMissed(status: unknown): boolean {
  return status === 'BROKEN' || status === 'NO_SHOW';
}

/** Follows an appointment into, within and out of BROKEN and NO_SHOW (specification, States and transitions; D28). */
export async function followStatus(tx: Transaction, draft: Draft): Promise<void> {
  const { before, after } = draft;
  const was = isMissed(before?.status);
  const is = isMissed(after.status);
  if (!was && !is) return;
  if (!was) return open(tx, draft);
  if (before?.status === after.status) return;
  const now = nowOf(draft.service);
  await change(tx, draft, is ? { status: after.status } : { rescheduledOn: now }, is);
}

async function open(tx: Transaction, { organization, actor, service, after }: Draft): Promise<void> {
  const id = await tx.nextId(organization.org, missedAppointments.type);
  const copied = Object.fromEntries(COPIED.map((name) => [name, after[name]]));
  const record = { ...blankRecord(missedAppointments), ...copied, id, appointment: { id: after.id } };
  await putRecord(tx, organization.org, missedAppointments, record, { is_open: 1 }, null);
  const at = nowOf(service);
  await recordChange(tx, { organization, actor, resource: missedAppointments, before: undefined, after: record, at });
}

/** Changes the open record of an appointment; a client may have deleted it. */
async function change(
  tx: Transaction,
  { organization, actor, service, after }: Draft,
  changes: JsonRecord,
  stays: boolean,
): Promise<void> {
  const { org } = organization;
  const row = await tx.get<StoredRecord>(
    sql`SELECT id, json FROM missedappointments WHERE org = ${org} AND appointment_id = ${after.id} AND is_open = 1
      ORDER BY id DESC LIMIT 1`,
  );
  if (row === undefined) return;
  const before = JSON.parse(row.json) as JsonRecord & { id: number };
  const record = { ...before, ...changes };
  await putRecord(tx, org, missedAppointments, record, { is_open: Number(stays) }, before);
  await recordChange(tx, {
    organization,
    actor,
    resource: missedAppointments,
    before,
    after: record,
    at: nowOf(service),
  });
}
