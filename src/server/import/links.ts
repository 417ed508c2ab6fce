import sql, { join, raw, type Sql } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Kind } from '../../catalog/fields/kind.ts';
import { existingIds, type FoundLink, linksOf } from '../references.ts';
import { tableOf } from '../store/layout.ts';
import type { Statement, Transaction } from '../store/store.ts';
import { RECORD_KINDS, type RecordKind } from './kinds.ts';
import { LISTED_PROBLEMS, type ProblemList } from './problems.ts';

/** Ids of one kind that are remembered to be there, or not to be: this bounds the memory. */
const REMEMBERED = 50_000;

/** Records read at once. */
const PAGE = 500;

/** Links looked up at once. */
const TOGETHER = 50;

/** Kinds that have a table of their own; there are few records of the others, and many links to them. */
const STORED = new Map(STORED_RESOURCES.map((resource) => [resource.type, resource]));

type NotedLink = readonly [org: number, id: number, line: number, field: string];

/**
 * Checks links of an import in any order: a link to a record that is not there yet is noted, and looked up again at
 * the end. Memory does not grow with the import.
 */
export class LinkBook {
  /** Ids that are there, by organization and kind. What a later line deletes is found by its own line. */
  private readonly known = new Map<number, Map<string, Set<number>>>();
  /** Records that have no table of their own and are not there. */
  private readonly absent = new Set<string>();
  private readonly deleted = new Map<string, { org: number; target: string; ids: Map<number, number> }>();
  /** Links that nobody has looked up, by kind. */
  private readonly waiting = new Map<string, NotedLink[]>();
  private readonly statements = new Map<string, Statement>();
  private readonly tx: Transaction;

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  async open(): Promise<void> {
    await this.tx.run(
      sql`CREATE TEMP TABLE import_links (org BIGINT, target TEXT, id BIGINT, line BIGINT, field TEXT)`,
    );
  }

  /** Whether all of these lead to records that are remembered to be there: then there is nothing to note. */
  knows(org: number, links: readonly FoundLink[]): boolean {
    return links.every(({ target, id }) => this.idsOf(org, target).has(id));
  }

  async note(org: number, line: number, links: readonly FoundLink[]): Promise<void> {
    for (const { target, id, at } of links) {
      const known = this.idsOf(org, target);
      if (known.has(id)) continue;
      if (!STORED.has(target) && (await this.isThere(org, target, id))) this.noteWritten(org, target, id);
      else await this.noteMissing(target, [org, id, line, `${at}.id`]);
    }
  }

  /** Remembers a record that is there now. */
  noteWritten(org: number, target: string, id: number): void {
    const ids = this.idsOf(org, target);
    if (ids.size >= REMEMBERED) ids.clear();
    ids.add(id);
    if (!STORED.has(target)) this.absent.delete(`${org} ${target} ${id}`);
  }

  /** Looks up what waits: before links are settled, and before anything is deleted that they may lead to. */
  async flush(): Promise<void> {
    for (const target of this.waiting.keys()) await this.lookUp(target);
  }

  private idsOf(org: number, target: string): Set<number> {
    let targets = this.known.get(org);
    if (targets === undefined) {
      targets = new Map();
      this.known.set(org, targets);
    }
    let ids = targets.get(target);
    if (ids === undefined) {
      ids = new Set();
      targets.set(target, ids);
    }
    return ids;
  }

  /** Whether a record is there; few are asked for, each by many lines. */
  private async isThere(org: number, target: string, id: number): Promise<boolean> {
    const name = `${org} ${target} ${id}`;
    if (this.absent.has(name)) return false;
    if ((await existingIds(this.tx, org, target, [id])).has(id)) return true;
    if (this.absent.size >= REMEMBERED) this.absent.clear();
    this.absent.add(name);
    return false;
  }

  private async noteMissing(target: string, link: NotedLink): Promise<void> {
    const waiting = this.waiting.get(target);
    if (waiting === undefined) this.waiting.set(target, [link]);
    else if (waiting.push(link) >= TOGETHER) await this.lookUp(target);
  }

  /** Keeps the links that lead nowhere yet, without waiting for the answer which do. */
  private async lookUp(target: string): Promise<void> {
    const links = this.waiting.get(target) ?? [];
    this.waiting.set(target, []);
    if (links.length === 0) return;
    const { sql: own, text, values } = this.lookingUp(target, links.length);
    await this.tx.run({ sql: own, text, values: [...links.flat(), ...values] });
  }

  /** The statement that looks up so many links, and its values after those of the links. */
  private lookingUp(target: string, links: number): Statement {
    const key = `${target} ${links}`;
    const known = this.statements.get(key);
    if (known !== undefined) return known;
    const others = Array.from({ length: links - 1 }, () => sql`(${0}, ${0}, ${0}, ${''})`);
    const typed = sql`(CAST(${0} AS BIGINT), CAST(${0} AS BIGINT), CAST(${0} AS BIGINT), CAST(${''} AS TEXT))`;
    const made = sql`WITH n (org, id, line, field) AS (VALUES ${join([typed, ...others])})
      INSERT INTO import_links (org, target, id, line, field)
      SELECT n.org, CAST(${target} AS TEXT), n.id, n.line, n.field FROM n WHERE NOT EXISTS (${targetOf(target, 'n')})`;
    const kept = { sql: made.sql, text: made.text, values: made.values.slice(links * 4) };
    this.statements.set(key, kept);
    return kept;
  }

  noteDeleted(org: number, target: string, id: number, line: number): void {
    if (STORED.has(target)) this.idsOf(org, target).delete(id);
    const name = `${org} ${target}`;
    const entry = this.deleted.get(name) ?? { org, target, ids: new Map<number, number>() };
    entry.ids.set(id, line);
    this.deleted.set(name, entry);
  }

  /** Reports every link that leads nowhere now that all lines are in. */
  async settle(problems: ProblemList): Promise<void> {
    const targets = await this.tx.all<{ target: string }>(
      sql`SELECT DISTINCT target FROM import_links ORDER BY target`,
    );
    for (const { target } of targets) await this.reportDangling(target, problems);
    await this.tx.run(sql`DROP TABLE import_links`);
    for (const entry of this.deleted.values()) await this.reportOrphans(entry, problems);
  }

  private async reportDangling(target: string, problems: ProblemList): Promise<void> {
    const rows = await this.tx.all<{ id: number; line: number; field: string }>(
      sql`SELECT l.id, l.line, l.field FROM import_links l WHERE l.target = ${target} AND NOT EXISTS (${targetOf(target, 'l')})
        ORDER BY l.line, l.field, l.id LIMIT ${LISTED_PROBLEMS * 100}`,
    );
    for (const { id, line, field } of rows) {
      problems.add(line, field, `${field}: there is no ${target} ${id} in this organization.`);
    }
  }

  /** All records of a kind, page by page. */
  private async *recordsOf(org: number, kind: RecordKind): AsyncGenerator<{ id: number; json: string }> {
    for (let after = 0; ; ) {
      const from = kind.resource
        ? sql`SELECT id, json FROM ${raw(tableOf(kind.resource))} WHERE org = ${org} AND id > ${after}`
        : sql`SELECT id, json FROM reference_records WHERE org = ${org} AND type = ${kind.type} AND id > ${after}`;
      const page = await this.tx.all<{ id: number; json: string }>(sql`${from} ORDER BY id LIMIT ${PAGE}`);
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1)?.id ?? after;
    }
  }

  /** Records that stay and still link to what the import deletes: found by reading all that may. */
  private async reportOrphans(entry: { org: number; target: string; ids: Map<number, number> }, problems: ProblemList) {
    const { org, target } = entry;
    const present = await existingIds(this.tx, org, target, [...entry.ids.keys()]);
    const gone = new Map([...entry.ids].filter(([id]) => !present.has(id)));
    for (const kind of RECORD_KINDS.values()) {
      const bound = Object.fromEntries(Object.entries(kind.fields).filter(([, field]) => holds(field.kind, target)));
      if (Object.keys(bound).length === 0) continue;
      for await (const row of this.recordsOf(org, kind)) {
        const links = linksOf(bound, JSON.parse(row.json) as Record<string, unknown>);
        for (const link of links.filter((candidate) => candidate.target === target && gone.has(candidate.id))) {
          const message = `${target} ${link.id} cannot be deleted: ${kind.type} ${row.id} links to it by ${link.at}.`;
          problems.add(gone.get(link.id) ?? 0, 'id', message);
        }
      }
    }
  }
}

/** The record that a link leads to; `link` is the alias of the link's row. */
function targetOf(target: string, link: 'l' | 'n'): Sql {
  const resource = STORED.get(target);
  const from = raw(link);
  if (resource !== undefined) {
    return sql`SELECT 1 FROM ${raw(tableOf(resource))} f WHERE f.org = ${from}.org AND f.id = ${from}.id`;
  }
  return sql`SELECT 1 FROM reference_records f WHERE f.org = ${from}.org AND f.type = ${target} AND f.id = ${from}.id`;
}

/** Whether a kind links to the target and cannot do without it. */
function holds(kind: Kind, target: string): boolean {
  return kind.target === target && kind.survives !== true;
}
