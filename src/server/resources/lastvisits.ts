import sql, { join } from 'sql-template-tag';
import { operationOf } from '../../catalog/catalog.ts';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { appointments } from '../../catalog/resources/appointments.ts';
import { patients } from '../../catalog/resources/patients.ts';
import { transactions } from '../../catalog/resources/transactions.ts';
import { disclose } from '../disclosing.ts';
import { projectRecord } from '../rendering.ts';
import { gather, readSelection, readTerms } from '../requests.ts';
import type { Handler, OperationRequest } from '../service.ts';
import { seenBy } from '../store/reach.ts';
import { localDate } from '../zones.ts';

/** GET `/patients/calculated`: the last visit date of each requested patient, null where there was no visit (D21). */
export const calculatedHandler: Handler = async (request) => {
  const operation = operationOf(patients, 'calculated');
  const problems: Problem[] = [];
  const terms = gather(problems, () => readTerms(request, operation)) ?? [];
  const selected = gather(problems, () => readSelection(request, operation));
  if (problems.length > 0) throw new Refusal(problems);
  const asked = terms.map((term) => new Set(term.values as number[]));
  const ids = [...(asked[0] ?? [])].filter((id) => asked.every((values) => values.has(id)));
  const rows = await visits(
    request,
    ids.toSorted((a, b) => a - b),
  );
  const found = rows.map(({ id }) => id);
  disclose(request, found, found);
  return { data: JSON.stringify(rows.map((row) => projectRecord({ ...row }, selected))) };
};

interface VisitRow {
  readonly id: number;
  readonly start: string | null;
  readonly timezone: string | null;
  readonly procedure_date: string | null;
}

async function visits(request: OperationRequest, ids: readonly number[]) {
  if (ids.length === 0) return [];
  const { organization } = request;
  const { org, timezone } = organization;
  const rows = await request.service.store.read.all<VisitRow>(sql`
    SELECT p.id,
      a.start,
      (SELECT l.json FROM reference_records l WHERE l.org = p.org AND l.type = 'Location' AND l.id = a.location_id) AS timezone,
      (SELECT MAX(t.transaction_date) FROM transactions t WHERE t.org = p.org AND t.patient_id = p.id
        AND t.ledger_type = 'PatientProcedureLedger' AND t.is_active = 1${seenBy(organization, transactions.type, 't')}) AS procedure_date
    FROM patients p
    LEFT JOIN appointments a ON a.org = p.org AND a.patient_id = p.id AND a.status IN ('COMPLETED', 'CHECKOUT')
      ${seenBy(organization, appointments.type, 'a')}
    WHERE p.org = ${org} AND p.id IN (${join([...ids])})${seenBy(organization, patients.type, 'p')}
    ORDER BY p.id`);
  const latest = new Map<number, string | null>();
  for (const row of rows) {
    const zone = (row.timezone && (JSON.parse(row.timezone) as { timezone: string | null }).timezone) || timezone;
    const dates = [latest.get(row.id), row.start && localDate(row.start, zone), row.procedure_date];
    latest.set(
      row.id,
      dates
        .filter((date) => date != null)
        .reduce<string | null>((max, date) => (max === null || date > max ? date : max), null),
    );
  }
  return [...latest].map(([id, lastVisitDate]) => ({ id, lastVisitDate }));
}
