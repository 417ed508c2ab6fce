import { operationOf } from '../../../catalog/catalog.ts';
import { type Problem, refusal } from '../../../catalog/failures.ts';
import { production } from '../../../catalog/resources/reports.ts';
import { discloseRows } from '../../disclosing.ts';
import { fairTurn, mapInTurns } from '../../fairscheduling.ts';
import { joinTexts, projectRecord } from '../../rendering.ts';
import { gather, readBulkQuery, readSelection, readTerms } from '../../requests.ts';
import type { Handler, OperationRequest, OperationResponse } from '../../service.ts';
import { asideOf } from '../../store/store.ts';
import { type ProductionQuery, readProductionQuery } from './query.ts';
import { productionItem, type ScheduledRow, scheduled } from './scheduled.ts';

/** Items made in one part of work: one or two milliseconds. */
const ITEMS = 500;

/** GET `/locationproductionnetschedule`: net production of every scheduled appointment, by start (D33). */
export const productionHandler: Handler = async (request) => {
  const operation = operationOf(production, 'report');
  const problems: Problem[] = [];
  gather(problems, () => readTerms(request, operation));
  const selected = gather(problems, () => readSelection(request, operation));
  const rows = await scheduledOrNone(request, readProductionQuery(request, operation, problems));
  return answer(request, rows, selected);
};

/** GET `/locationproductionnetschedule/async`: the first items of the same report; with `lastId` in the order of ids. */
export const productionAsyncHandler: Handler = async (request) => {
  const operation = operationOf(production, 'async');
  const problems: Problem[] = [];
  const query = gather(problems, () => readBulkQuery(request, operation));
  const rows = await scheduledOrNone(request, readProductionQuery(request, operation, problems));
  const { lastId = 0, byCursor = false, page = 1, limit = 0, fields } = query ?? {};
  const ordered = byCursor ? rows.filter(({ id }) => id > lastId).sort((a, b) => a.id - b.id) : rows;
  return answer(request, ordered.slice((page - 1) * limit, page * limit), fields);
};

/** Throws 404 when there are no such appointments. */
async function scheduledOrNone(request: OperationRequest, query: ProductionQuery): Promise<ScheduledRow[]> {
  await fairTurn(request.organization.org);
  const read = asideOf(request.service.store.read, request.organization.org);
  const rows = await scheduled(read, request.organization, query);
  if (rows.length > 0) return rows;
  throw refusal('record.not_found', 'filter', 'No scheduled appointment matches the filter.');
}

async function answer(
  request: OperationRequest,
  rows: readonly ScheduledRow[],
  selected: readonly string[] | undefined,
): Promise<OperationResponse> {
  discloseRows(request, rows);
  const textOf = (row: ScheduledRow) => JSON.stringify(projectRecord(productionItem(row), selected));
  return { data: joinTexts(await mapInTurns(request.organization.org, rows, ITEMS, textOf)) };
}
