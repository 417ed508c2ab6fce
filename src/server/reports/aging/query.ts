import sql, { empty, join } from 'sql-template-tag';
import { operationOf } from '../../../catalog/catalog.ts';
import { type Problem, Refusal, refusal } from '../../../catalog/failures.ts';
import type { Term } from '../../../catalog/filter/check.ts';
import { patients } from '../../../catalog/resources/patients.ts';
import { aging } from '../../../catalog/resources/reports.ts';
import { transactions } from '../../../catalog/resources/transactions.ts';
import { existingIds, referenceRecord } from '../../references.ts';
import { gather, readTerms } from '../../requests.ts';
import type { OperationRequest } from '../../service.ts';
import { type Reach, seenBy } from '../../store/reach.ts';
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
  const { organization, service } = request;
  const { read } = service.store;
  const found = await read.all<{ id: number }>(
    sql`SELECT DISTINCT r.primary_guarantor_id AS id FROM patients r
      WHERE r.org = ${organization.org} AND r.primary_guarantor_id IN (${join([...requested])})${seenBy(organization, patients.type)}`,
  );
  const ids = found.map(({ id }) => id);
  for (const id of await existingIds(read, organization, patients.type, ids)) requested.delete(id);
  if (requested.size === 0) return;
  const description = `patient.id takes guarantors only; these are guarantors of nobody here: ${[...requested].join(', ')}.`;
  problems.push({ code: 'filter.value', source: 'patient.id', description });
}

/** A location must exist and have transactions (D34, D35). */
async function checkLocation(request: OperationRequest, location: number | 'ALL'): Promise<void> {
  const { organization, service } = request;
  const { read } = service.store;
  if (location === 'ALL') {
    if (await hasTransactions(read, organization)) return;
    throw refusal('record.not_found', 'location.id', 'The organization has no transactions.');
  }
  if ((await referenceRecord(read, organization, 'Location', location)) === undefined) {
    throw refusal('record.not_found', 'location.id', `There is no location ${location} in this organization.`);
  }
  if (await hasTransactions(read, organization, location)) return;
  throw refusal('record.not_found', 'location.id', `Location ${location} has no transactions.`);
}

async function hasTransactions(read: Reader, reach: Reach, location?: number): Promise<boolean> {
  const there = location === undefined ? empty : sql` AND r.location_id = ${location}`;
  const row = await read.get(
    sql`SELECT 1 AS found FROM transactions r WHERE r.org = ${reach.org}${there}${seenBy(reach, transactions.type)} LIMIT 1`,
  );
  return row !== undefined;
}
