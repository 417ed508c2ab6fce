import sql from 'sql-template-tag';
import { formatInstant, LAST_INSTANT } from '../../../catalog/fields/times.ts';
import { appointments } from '../../../catalog/resources/appointments.ts';
import type { Organization } from '../../organizations.ts';
import { conditionsOf } from '../../store/conditions.ts';
import type { JsonRecord } from '../../store/layout.ts';
import { locationOf } from '../../store/reach.ts';
import type { Reader } from '../../store/store.ts';
import { instantIn } from '../../zones.ts';
import { DAY_MS, wallAt } from '../days.ts';
import { memoize } from '../memoize.ts';
import { zonesOfLocations } from '../places.ts';
import type { ProductionQuery } from './query.ts';

/** A scheduled appointment as the report sees it; `start` is UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
export interface ScheduledRow {
  readonly id: number;
  readonly start: string;
  readonly location_id: number | null;
  /** Where the appointment is, as `locationOf` has it. */
  readonly location: number | null;
  readonly patient: number | null;
  /** Production less write-off, in cents. */
  readonly net_cents: number;
}

/** Appointments whose local start date is inside the window, by start. */
export async function scheduled(
  read: Reader,
  organization: Organization,
  query: ProductionQuery,
): Promise<ScheduledRow[]> {
  const { fromDate, days, zone, terms } = query;
  // No zone is more than a day away from UTC.
  const [from, to] = [Date.parse(fromDate) - DAY_MS, Date.parse(fromDate) + (days + 1) * DAY_MS];
  const rows = await read.all<ScheduledRow>(sql`
    SELECT r.id, r.start, r.location_id, r.patient_id AS patient, ${locationOf(appointments.type)} AS location,
      COALESCE(r.production_cents, 0) - COALESCE(r.write_off_cents, 0) AS net_cents
    FROM appointments r
    WHERE r.org = ${organization.org} AND r.start >= ${formatInstant(from)} AND r.start <= ${formatInstant(Math.min(to, LAST_INSTANT))}
      AND r.status NOT IN ('BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE')${conditionsOf(organization, appointments, terms)}
    ORDER BY r.start, r.id`);
  const zoneOf = zone === undefined ? await zonesOfLocations(read, organization) : () => zone;
  const windowIn = memoize((name: string) => {
    const instantOf = instantIn(name);
    const end = instantOf(wallAt(fromDate, days * 1440));
    return {
      first: formatInstant(instantOf(wallAt(fromDate, 0))),
      last: formatInstant(Math.min(end - 1, LAST_INSTANT)),
    };
  });
  // Stored instants are in order as texts, too.
  return rows.filter(({ start, location_id }) => {
    const { first, last } = windowIn(zoneOf(location_id));
    return first <= start && start <= last;
  });
}

/** The item of the report: scheduled net production in cents (D33). */
export function productionItem({ start, net_cents }: ScheduledRow): JsonRecord {
  return { date: start, scheduledAmount: net_cents };
}
