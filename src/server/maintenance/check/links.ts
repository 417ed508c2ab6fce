import type { Fields } from '../../../catalog/record.ts';
import { existingIds, linksOf } from '../../references.ts';
import type { JsonRecord } from '../../store/layout.ts';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';
import { PAGE } from './pages.ts';

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
  book: Book,
  { org, table, fields, records }: LinkedPage,
): Promise<void> {
  const findings = book.of('links');
  const bound = Object.fromEntries(Object.entries(fields).filter(([, field]) => field.kind.survives !== true));
  const links = records.flatMap(({ id, record }) => linksOf(bound, record).map((link) => ({ ...link, from: id })));
  findings.looked(links.length);
  for (const target of new Set(links.map((link) => link.target))) {
    const group = links.filter((link) => link.target === target);
    const known = await existing(context, org, target, [...new Set(group.map((link) => link.id))]);
    for (const { id, at, from } of group) {
      if (known.has(id)) continue;
      const message = `${at} leads to ${target} ${id}, which does not exist`;
      findings.report({ table, organization: context.organization(org), id: from, message });
    }
  }
}

async function existing({ read }: CheckContext, org: number, target: string, ids: readonly number[]) {
  const known = new Set<number>();
  for (let at = 0; at < ids.length; at += PAGE) {
    for (const id of await existingIds(read, org, target, ids.slice(at, at + PAGE))) known.add(id);
  }
  return known;
}
