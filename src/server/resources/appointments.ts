import { isDeepStrictEqual } from 'node:util';
import { asId } from '../../catalog/fields/numbers.ts';
import { appointments } from '../../catalog/resources/appointments.ts';
import { nowOf } from '../clock.ts';
import { cents } from '../money.ts';
import { referenceRecord, zoneOfLocation } from '../references.ts';
import type { OperationRequest } from '../service.ts';
import { findRecord } from '../store/records.ts';
import type { Reader } from '../store/store.ts';
import { recordHistory } from './appointmenthistories.ts';
import type { Behaviour, Draft } from './behaviour.ts';
import { followStatus } from './missedappointments.ts';

/** Appointments (D27): location and end follow from operatory, start and duration; every change leaves a history. */
export const appointmentBehaviour: Behaviour = {
  resource: appointments,
  zone: zoneOfRequest,
  complete: completeAppointment,
  ownValues({ row, imported }) {
    const production = imported?.production as { amount?: number | null; writeOff?: number | null } | null | undefined;
    const kept = row as { production_cents?: number | null; write_off_cents?: number | null } | undefined;
    return {
      production_cents: production ? cents(production.amount) : (kept?.production_cents ?? null),
      write_off_cents: production ? cents(production.writeOff) : (kept?.write_off_cents ?? null),
    };
  },
  async stored(tx, draft) {
    await recordHistory(tx, draft, draft.before === undefined ? 'CREATE' : 'UPDATE');
    await followStatus(tx, draft);
    return true;
  },
  async beforeDelete(tx, { before, organization, actor, service, row }) {
    const after = { ...before };
    const draft: Draft = { organization, actor, service, before, row, after, given: new Set(), problems: [] };
    await recordHistory(tx, draft, 'DELETE');
  },
};

async function completeAppointment(
  read: Reader,
  { after, before, organization, service, locations }: Draft,
): Promise<void> {
  after.duration ??= 60;
  after.status ??= 'UNCONFIRMED';
  after.asap ??= false;
  after.needsFollowUp ??= false;
  after.bookedOnline ??= false;
  after.created ??= nowOf(service);
  after.end = new Date(Date.parse(after.start as string) + (after.duration as number) * 60_000).toISOString();
  if (isDeepStrictEqual(before?.operatory, after.operatory)) return;
  const { org } = organization;
  const { id } = after.operatory as { id: number };
  const operatory = await (locations?.find(org, 'Operatory', id) ??
    referenceRecord(read, organization, 'Operatory', id));
  after.location = operatory?.location ?? after.location;
}

/** Local times stand in the zone of the operatory's location: the one sent, else the one booked (D7). */
async function zoneOfRequest(request: OperationRequest): Promise<string | undefined> {
  const { organization } = request;
  const { read } = request.service.store;
  const sent = asId((request.body as { operatory?: { id?: unknown } | null } | null)?.operatory?.id);
  const id = asId(request.pathId);
  const row =
    sent === undefined && id !== undefined ? await findRecord(read, organization, appointments, id) : undefined;
  const booked = row && (JSON.parse(row.json) as { operatory: { id: number } }).operatory.id;
  const operatory = await referenceRecord(read, organization, 'Operatory', sent ?? booked);
  return zoneOfLocation(read, organization, operatory?.location?.id);
}
