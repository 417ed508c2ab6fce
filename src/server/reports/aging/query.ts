import sql, { join } from 'sql-template-tag';
import { operationOf } from '../../../catalog/catalog.ts';
import { type Problem, Refusal, refusal } from '../../../catalog/failures.ts';
import type { Term } from '../../../catalog/filter/check.ts';
import { aging } from '../../../catalog/resources/reports.ts';
import { referenceRecord } from '../../references.ts';
import { gather, readTerms } from '../../requests.ts';
import type { OperationRequest } from '../../service.ts';
import type { Reader } from '../../store/store.ts';
import { allowedBy, settingOf, validTerms } from '../terms.ts';

/** The query of an aging report: guarantors by id, or a page from 1 on; `terms` limit amounts in cents. */
interface AgingQuery {
  readonly location: number | 'ALL';
  readonly guarantors: readonly number[] | undefined;
  readonly page: number;
  readonly terms: readonly Term[];
}

/** Maximum guarantors per request (specification, Limits). */
const MAX_GUARANTORS = 50;

/** Reads and checks the filter (specification, Errors: 400 conditions; D34, D35). Throws a Refusal. */
export async function readAgingQuery(request: OperationRequest): Promise<AgingQuery> {
  const problems: Problem[] = [];
  const operation = operationOf(aging, 'report');
  gather(problems, () => readTerms(request, operation));
  const { terms, named } = validTerms(request, operation);
  if (named.size > 0 && !named.has('patient.id') && !named.has('page')) {
    const description = 'The filter must have patient.id, with guarantors, or page, such as page==1.';
    problems.push({ code: 'filter.missing', source: 'patient.id', description });
  }
  const location = settingOf(terms, 'location.id', problems) as number | 'ALL';
  const page = settingOf(terms, 'page', problems) as number | undefined;
  await checkGuarantors(request, terms, problems);
  if (problems.length > 0) throw new Refusal(problems);
  await checkLocation(request, location);
  const allowed = allowedBy(terms, 'patient.id') as ReadonlySet<number> | undefined;
  return {
    location,
    guarantors: allowed && [...allowed],
    page: page ?? 1,
    terms: terms.filter(({ key }) => key.value.name === 'dollars'),
  };
}

async function checkGuarantors(request: OperationRequest, terms: readonly Term[], problems: Problem[]): Promise<void> {
  const requested = new Set(
    terms.filter(({ key }) => key.key === 'patient.id').flatMap(({ values }) => values as number[]),
  );
  if (requested.size === 0) return;
  if (requested.size > MAX_GUARANTORS) {
    const description = `patient.id takes ${MAX_GUARANTORS} guarantors at most, not ${requested.size}.`;
    problems.push({ code: 'filter.value', source: 'patient.id', description });
    return;
  }
  const found = await request.service.store.read.all<{ id: number }>(
    sql`SELECT DISTINCT primary_guarantor_id AS id FROM patients
      WHERE org = ${request.organization.org} AND primary_guarantor_id IN (${join([...requested])})`,
  );
  for (const { id } of found) requested.delete(id);
  if (requested.size === 0) return;
  const description = `patient.id takes guarantors only; these are guarantors of nobody here: ${[...requested].join(', ')}.`;
  problems.push({ code: 'filter.value', source: 'patient.id', description });
}

/** A location must exist and have transactions (D34, D35). */
async function checkLocation(request: OperationRequest, location: number | 'ALL'): Promise<void> {
  const { org } = request.organization;
  const { read } = request.service.store;
  if (location === 'ALL') {
    if (await hasTransactions(read, org)) return;
    throw refusal('record.not_found', 'location.id', 'The organization has no transactions.');
  }
  if ((await referenceRecord(read, org, 'Location', location)) === undefined) {
    throw refusal('record.not_found', 'location.id', `There is no location ${location} in this organization.`);
  }
  if (await hasTransactions(read, org, location)) return;
  throw refusal('record.not_found', 'location.id', `Location ${location} has no transactions.`);
}

async function hasTransactions(read: Reader, org: number, location?: number): Promise<boolean> {
  const row = await read.get(
    location === undefined
      ? sql`SELECT 1 AS found FROM transactions WHERE org = ${org} LIMIT 1`
      : sql`SELECT 1 AS found FROM transactions WHERE org = ${org} AND location_id = ${location} LIMIT 1`,
  );
  return row !== undefined;
}
