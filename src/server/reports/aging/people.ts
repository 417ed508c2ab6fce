import sql, { join } from 'sql-template-tag';
import type { Reader } from '../../store/store.ts';

/** Name of a guarantor and how many insurance claims of their patients are pending. */
export interface GuarantorFacts {
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly claimsPending: number;
}

/** Ids that one statement takes: a page may hold more guarantors than a statement may have values. */
const AT_ONCE = 500;

/** What the report tells of guarantors beside money, by id. */
export async function guarantorFacts(
  read: Reader,
  org: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, GuarantorFacts>> {
  const facts = new Map<number, GuarantorFacts>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const rows = await read.all<{
      id: number;
      first_name: string | null;
      last_name: string | null;
      pending: number;
    }>(sql`
      SELECT p.id, json_extract(p.json, '$.firstName') AS first_name, json_extract(p.json, '$.lastName') AS last_name,
        (SELECT COUNT(*) FROM patients m
          JOIN reference_records c ON c.org = m.org AND c.type = 'InsuranceClaim' AND c.filed_under = m.id
          WHERE m.org = p.org AND m.primary_guarantor_id = p.id) AS pending
      FROM patients p WHERE p.org = ${org} AND p.id IN (${join(ids.slice(from, from + AT_ONCE))})`);
    for (const { id, first_name, last_name, pending } of rows) {
      facts.set(id, { firstName: first_name, lastName: last_name, claimsPending: pending });
    }
  }
  return facts;
}
