import sql from 'sql-template-tag';
import { operationOf } from '../../../catalog/catalog.ts';
import { type Problem, refusal } from '../../../catalog/failures.ts';
import { formatInstant, LAST_INSTANT } from '../../../catalog/fields/times.ts';
import { appointments } from '../../../catalog/resources/appointments.ts';
import { production } from '../../../catalog/resources/reports.ts';
import { projectRecord } from '../../rendering.ts';
import { gather, readBulkQuery, readSelection, readTerms } from '../../requests.ts';
import type { Handler, OperationRequest } from '../../service.ts';
import { conditionsOf } from '../../store/conditions.ts';
import { instantIn } from '../../zones.ts';
import { DAY_MS, wallAt } from '../days.ts';
import { zonesOfLocations } from '../places.ts';
import { remembered } from '../remembered.ts';
import { type ProductionQuestion, readProductionQuestion } from './question.ts';

/** GET `/locationproductionnetschedule`: net production of every scheduled appointment, by start (D33). */
export const productionHandler: Handler = async (request) => {
  const operation = operationOf(production, 'report');
  const problems: Problem[] = [];
  gather(problems, () => readTerms(request, operation));
  const selected = gather(problems, () => readSelection(request, operation));
  const rows = await scheduled(request, readProductionQuestion(request, operation, problems));
  return { data: wireItems(rows, selected) };
};

/** GET `/locationproductionnetschedule/async`: the first items of the same report; with `lastId` in the order of ids. */
export const productionAsyncHandler: Handler = async (request) => {
  const operation = operationOf(production, 'async');
  const problems: Problem[] = [];
  const query = gather(problems, () => readBulkQuery(request, operation));
  const rows = await scheduled(request, readProductionQuestion(request, operation, problems));
  const { lastId = 0, byCursor = false, page = 1, limit = 0, fields } = query ?? {};
  const ordered = byCursor ? rows.filter(({ id }) => id > lastId).sort((a, b) => a.id - b.id) : rows;
  return { data: wireItems(ordered.slice((page - 1) * limit, page * limit), fields) };
};

interface ScheduledRow {
  readonly id: number;
  readonly start: string;
  readonly location_id: number | null;
  /** Production less write-off, in cents. */
  readonly net_cents: number;
}

/** Appointments whose local start date is inside the window, by start. Throws 404 when there are none. */
async function scheduled(request: OperationRequest, asked: ProductionQuestion): Promise<ScheduledRow[]> {
  const { organization, service } = request;
  const { read } = service.store;
  const { fromDate, days, zone, terms } = asked;
  // No zone is more than a day away from UTC.
  const [from, to] = [Date.parse(fromDate) - DAY_MS, Date.parse(fromDate) + (days + 1) * DAY_MS];
  const rows = await read.all<ScheduledRow>(sql`
    SELECT r.id, r.start, r.location_id, COALESCE(r.production_cents, 0) - COALESCE(r.write_off_cents, 0) AS net_cents
    FROM appointments r
    WHERE r.org = ${organization.org} AND r.start >= ${formatInstant(from)} AND r.start <= ${formatInstant(Math.min(to, LAST_INSTANT))}
      AND r.status NOT IN ('BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE')${conditionsOf(appointments, terms)}
    ORDER BY r.start, r.id`);
  const zoneOf = zone === undefined ? await zonesOfLocations(read, organization) : () => zone;
  const windowIn = remembered((name: string) => {
    const instantOf = instantIn(name);
    return { from: instantOf(wallAt(fromDate, 0)), to: instantOf(wallAt(fromDate, days * 1440)) };
  });
  const inside = rows.filter(({ start, location_id }) => {
    const window = windowIn(zoneOf(location_id));
    return Date.parse(start) >= window.from && Date.parse(start) < window.to;
  });
  if (inside.length > 0) return inside;
  throw refusal('record.not_found', 'filter', 'No scheduled appointment matches the filter.');
}

function wireItems(rows: readonly ScheduledRow[], selected: readonly string[] | undefined): string {
  return JSON.stringify(
    rows.map(({ start, net_cents }) => projectRecord({ date: start, scheduledAmount: net_cents }, selected)),
  );
}
