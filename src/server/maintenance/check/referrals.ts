import sql from 'sql-template-tag';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';
import type { LinkedRecord } from './links.ts';
import { type RecordPage, within } from './pages.ts';

/** `referredPatients` lists, in the order of ids, the patients whose `referredByPatient` is this one. */
export async function checkReferrals(
  { read, organization }: CheckContext,
  book: Book,
  page: RecordPage<unknown>,
  records: readonly LinkedRecord[],
): Promise<void> {
  const rows = await read.all<{ referrer: number; id: number }>(
    sql`SELECT referred_by_patient_id AS referrer, id FROM patients
      WHERE org = ${page.org} AND ${within('referred_by_patient_id', page)} ORDER BY referred_by_patient_id, id`,
  );
  const referred = new Map<number, number[]>();
  for (const { referrer, id } of rows) referred.set(referrer, [...(referred.get(referrer) ?? []), id]);
  for (const { id, record } of records) {
    const list = Array.isArray(record.referredPatients) ? record.referredPatients : [];
    const ids = list.map((link: { id?: unknown }) => link.id);
    if (String(ids) === String(referred.get(id) ?? [])) continue;
    const message = 'referredPatients are not the patients that it referred';
    book.of('links').report({ table: 'patients', organization: organization(page.org), id, message });
  }
}
