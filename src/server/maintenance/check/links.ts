import sql from 'sql-template-tag';
import type { Fields } from '../../../catalog/fields/kind.ts';
import { existingIds, linksOf } from '../../references.ts';
import type { JsonRecord } from '../../store/layout.ts';
import type { Reader } from '../../store/store.ts';
import type { CheckContext, CheckFindings } from './context.ts';
import { orgsOf, type RecordPage, within } from './pages.ts';

/** A record whose JSON can be read. */
export interface LinkedRecord {
  readonly id: number;
  readonly record: JsonRecord;
}

interface LinkedPage {
  readonly org: number;
  readonly table: string;
  readonly fields: Fields;
  readonly records: readonly LinkedRecord[];
}

/** Links lead to records of the same organization, those apart that outlive what they lead to. */
export async function checkLinks(
  context: CheckContext,
  book: CheckFindings,
  { org, table, fields, records }: LinkedPage,
): Promise<void> {
  const findings = book.of('links');
  const bound = Object.fromEntries(Object.entries(fields).filter(([, field]) => field.kind.survives !== true));
  const links = records.flatMap(({ id, record }) => linksOf(bound, record).map((link) => ({ ...link, from: id })));
  findings.counted(links.length);
  for (const target of new Set(links.map((link) => link.target))) {
    const group = links.filter((link) => link.target === target);
    const known = await existingIds(
      context.read,
      { org },
      target,
      group.map((link) => link.id),
    );
    for (const { id, at, from } of group) {
      if (known.has(id)) continue;
      const message = `${at} leads to ${target} ${id}, which does not exist`;
      findings.report({ table, organization: context.organization(org), id: from, message });
    }
  }
}

/** The names on the wire of the organizations that the store knows. */
export async function organizationNames(read: Reader): Promise<ReadonlyMap<number, string>> {
  const rows = await read.all<{ org: number; id: string }>(sql`SELECT org, id FROM organizations`);
  return new Map(rows.map(({ org, id }) => [org, id]));
}

/** Rows of organizations that there are none of. */
export async function checkOrganizations(
  context: CheckContext,
  book: CheckFindings,
  tables: readonly string[],
): Promise<void> {
  const findings = book.of('links');
  for (const table of tables) {
    for (const org of await orgsOf(context.read, table)) {
      if (context.organization(org) !== null) continue;
      findings.report({
        table,
        organization: null,
        id: null,
        message: `rows of organization key ${org}, which does not exist`,
      });
    }
  }
}

/** `referredPatients` lists, in the order of ids, the patients whose `referredByPatient` is this one. */
export async function checkReferrals(
  { read, organization }: CheckContext,
  book: CheckFindings,
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
