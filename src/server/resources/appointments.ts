import sql from 'sql-template-tag';
import { appointments } from '../../catalog/resources/appointments.ts';
import { cents } from '../money.ts';
import type { Reader } from '../store/store.ts';
import type { Behaviour, Draft } from './behaviour.ts';

/** Appointments (D27): location and end follow from operatory and duration. */
export const appointmentBehaviour: Behaviour = {
  resource: appointments,
  own: ['production_cents', 'write_off_cents'],
  async complete(read: Reader, { after, organization }: Draft) {
    const { org } = organization;
    after.duration ??= 60;
    after.status ??= 'UNCONFIRMED';
    after.asap ??= false;
    after.needsFollowUp ??= false;
    after.end = new Date(Date.parse(after.start as string) + (after.duration as number) * 60_000).toISOString();
    const { id } = after.operatory as { id: number };
    const row = await read.get<{ json: string }>(
      sql`SELECT json FROM reference_records WHERE org = ${org} AND type = 'Operatory' AND id = ${id}`,
    );
    after.location = row === undefined ? after.location : (JSON.parse(row.json) as { location: unknown }).location;
  },
  ownColumns({ row, imported }) {
    const production = imported?.production as { amount?: number | null; writeOff?: number | null } | null | undefined;
    const kept = row as { production_cents?: number | null; write_off_cents?: number | null } | undefined;
    return {
      production_cents: production ? cents(production.amount) : (kept?.production_cents ?? null),
      write_off_cents: production ? cents(production.writeOff) : (kept?.write_off_cents ?? null),
    };
  },
};
