import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Kind } from '../../catalog/fields/kind.ts';
import { existingIds, type FoundLink, linksOf } from '../references.ts';
import { tableOf } from '../store/layout.ts';
import type { Reader, Statement, Writing } from '../store/store.ts';
import { RECORD_KINDS, RESOURCE_BY_TYPE, type RecordKind } from './kinds.ts';
import { MAX_LISTED_PROBLEMS, type ProblemList } from './lines.ts';

/** Maximum cached ids of one kind that exist, or do not: this bounds the memory. */
const MAX_CACHED = 50_000;

/** Records read at once. */
const PAGE_SIZE = 500;

/** Links looked up at once. */
const BATCH = 50;

type NotedLink = readonly [org: number, id: number, line: number, field: string];

/** The records that links of an import may lead to. */
export interface LinkTargets {
  /** Those of a kind that exist, of these ids. */
  existing(org: number, target: string, ids: readonly number[]): Promise<Set<number>>;
  /** The condition that the record exists which a row of links leads to; `link` is its alias, with `org` and `id`. */
  whereExists(target: string, link: Sql): Sql;
  /** All records of a kind. */
  recordsOf(org: number, kind: RecordKind): AsyncIterable<{ readonly id: number; readonly json: string }>;
}

/** Checks the links of an import: those to records that do not exist yet are stored and looked up again at the end. */
export class LinkBook {
  /** Ids that exist, by organization and kind. What a later line deletes is noted by `noteDeleted`. */
  private readonly existing = new Map<number, Map<string, Set<number>>>();
  /** Records without a table of their own that did not exist when they were looked for; links to them wait. */
  private readonly absent = new Set<string>();
  private readonly deleted = new Map<string, { org: number; target: string; ids: Map<number, number> }>();
  /** Links still to be looked up, by kind. */
  private readonly pending = new Map<string, NotedLink[]>();
  private readonly statements = new Map<string, Statement>();

  /** `name`: the import that they are of; the table is `import_links` (`STAGING_TABLES`). */
  constructor(
    private readonly tx: Writing,
    private readonly name: string,
    private readonly targets: LinkTargets,
  ) {}

  /** Whether all of these lead to records that are cached as existing: then there is nothing to note. */
  allExist(org: number, links: readonly FoundLink[]): boolean {
    return links.every(({ target, id }) => this.idsOf(org, target).has(id));
  }

  async note(org: number, line: number, links: readonly FoundLink[]): Promise<void> {
    for (const { target, id, at } of links) {
      if (this.idsOf(org, target).has(id)) continue;
      if (!RESOURCE_BY_TYPE.has(target) && (await this.exists(org, target, id))) this.noteWritten(org, target, id);
      else await this.noteMissing(target, [org, id, line, `${at}.id`]);
    }
  }

  /** Caches a record that exists now. */
  noteWritten(org: number, target: string, id: number): void {
    const ids = this.idsOf(org, target);
    if (ids.size >= MAX_CACHED) ids.clear();
    ids.add(id);
  }

  /** Looks up pending links: before they are settled, and before anything is deleted that they may lead to. */
  async flush(): Promise<void> {
    for (const target of this.pending.keys()) await this.lookUp(target);
  }

  private idsOf(org: number, target: string): Set<number> {
    let targets = this.existing.get(org);
    if (targets === undefined) {
      targets = new Map();
      this.existing.set(org, targets);
    }
    let ids = targets.get(target);
    if (ids === undefined) {
      ids = new Set();
      targets.set(target, ids);
    }
    return ids;
  }

  /** Whether a record exists; few are looked up, each by many lines. */
  private async exists(org: number, target: string, id: number): Promise<boolean> {
    const name = `${org} ${target} ${id}`;
    if (this.absent.has(name)) return false;
    if ((await this.targets.existing(org, target, [id])).has(id)) return true;
    if (this.absent.size >= MAX_CACHED) this.absent.clear();
    this.absent.add(name);
    return false;
  }

  private async noteMissing(target: string, link: NotedLink): Promise<void> {
    const pending = this.pending.get(target);
    if (pending === undefined) this.pending.set(target, [link]);
    else if (pending.push(link) >= BATCH) await this.lookUp(target);
  }

  /** Stores the links that lead nowhere yet, without fetching which those are. */
  private async lookUp(target: string): Promise<void> {
    const links = this.pending.get(target) ?? [];
    this.pending.set(target, []);
    if (links.length === 0) return;
    const { sql: own, text, values } = this.lookUpStatement(target, links.length);
    await this.tx.run({ sql: own, text, values: [...links.flat(), ...values] });
  }

  /** The statement that looks up so many links, and its values after those of the links. */
  private lookUpStatement(target: string, links: number): Statement {
    const key = `${target} ${links}`;
    const known = this.statements.get(key);
    if (known !== undefined) return known;
    const others = Array.from({ length: links - 1 }, () => sql`(${0}, ${0}, ${0}, ${''})`);
    const typed = sql`(CAST(${0} AS BIGINT), CAST(${0} AS BIGINT), CAST(${0} AS BIGINT), CAST(${''} AS TEXT))`;
    const exists = this.targets.whereExists(target, raw('n'));
    const {
      sql: own,
      text,
      values,
    } = sql`WITH n (org, id, line, field) AS (VALUES ${join([typed, ...others])})
      INSERT INTO import_links (import, org, target, id, line, field)
      SELECT CAST(${this.name} AS TEXT), n.org, CAST(${target} AS TEXT), n.id, n.line, n.field FROM n WHERE NOT ${exists}
      ON CONFLICT DO NOTHING`;
    const statement = { sql: own, text, values: values.slice(links * 4) };
    this.statements.set(key, statement);
    return statement;
  }

  /** Notes a record that a line deletes. */
  noteDeleted(org: number, target: string, id: number, line: number): void {
    if (RESOURCE_BY_TYPE.has(target)) this.idsOf(org, target).delete(id);
    const name = `${org} ${target}`;
    const entry = this.deleted.get(name) ?? { org, target, ids: new Map<number, number>() };
    entry.ids.set(id, line);
    this.deleted.set(name, entry);
  }

  /** Reports every link that leads nowhere after the last line. */
  async settle(problems: ProblemList): Promise<void> {
    const targets = await this.tx.all<{ target: string }>(
      sql`SELECT DISTINCT target FROM import_links WHERE import = ${this.name} ORDER BY target`,
    );
    for (const { target } of targets) await this.reportDangling(target, problems);
    for (const entry of this.deleted.values()) await this.reportOrphans(entry, problems);
  }

  private async reportDangling(target: string, problems: ProblemList): Promise<void> {
    const rows = await this.tx.all<{ id: number; line: number; field: string }>(
      sql`SELECT l.id, l.line, l.field FROM import_links l
        WHERE l.import = ${this.name} AND l.target = ${target} AND NOT ${this.targets.whereExists(target, raw('l'))}
        ORDER BY l.line, l.field, l.id LIMIT ${MAX_LISTED_PROBLEMS * 100}`,
    );
    for (const { id, line, field } of rows) {
      problems.add(line, field, `${field}: there is no ${target} ${id} in this organization.`);
    }
  }

  /** Reports remaining records that link to what the import deletes: found by reading all that may. */
  private async reportOrphans(entry: { org: number; target: string; ids: Map<number, number> }, problems: ProblemList) {
    const { org, target } = entry;
    const present = await this.targets.existing(org, target, [...entry.ids.keys()]);
    const gone = new Map([...entry.ids].filter(([id]) => !present.has(id)));
    for (const kind of RECORD_KINDS.values()) {
      const bound = Object.fromEntries(
        Object.entries(kind.fields).filter(([name, field]) => holds(field.kind, target) && !FOLLOWS.has(name)),
      );
      if (Object.keys(bound).length === 0) continue;
      for await (const row of this.targets.recordsOf(org, kind)) {
        const links = linksOf(bound, JSON.parse(row.json) as Record<string, unknown>);
        for (const link of links.filter(({ id }) => gone.has(id))) {
          const message = `${target} ${link.id} cannot be deleted: ${kind.type} ${row.id} links to it by ${link.at}.`;
          problems.add(gone.get(link.id) ?? 0, 'id', message);
        }
      }
    }
  }
}

/** The records of the store itself. */
export function storedTargets(read: Reader): LinkTargets {
  return {
    existing: (org, target, ids) => existingIds(read, { org }, target, ids),
    whereExists: (target, link) =>
      sql`EXISTS (SELECT 1 FROM ${tableOfKind(target, 'f')} AND f.org = ${link}.org AND f.id = ${link}.id)`,
    recordsOf: (org, { type }) => pagesOf(read, org, sql`FROM ${tableOfKind(type, 'r')}`),
  };
}

/** The rows of a kind by an alias, with the condition that begins to tell which. */
export function tableOfKind(type: string, alias: string): Sql {
  const resource = RESOURCE_BY_TYPE.get(type);
  if (resource !== undefined) return raw(`${tableOf(resource)} ${alias} WHERE true`);
  return sql`reference_records ${raw(alias)} WHERE ${raw(alias)}.type = ${type}`;
}

/** The records `r` that a clause selects, page by page. */
export async function* pagesOf(read: Reader, org: number, from: Sql): AsyncGenerator<{ id: number; json: string }> {
  for (let after = 0; ; ) {
    const page = await read.all<{ id: number; json: string }>(
      sql`SELECT r.id, r.json ${from} AND r.org = ${org} AND r.id > ${after} ORDER BY r.id LIMIT ${PAGE_SIZE}`,
    );
    yield* page;
    if (page.length < PAGE_SIZE) return;
    after = page.at(-1)?.id ?? after;
  }
}

/** Fields that follow from links of other records: the import makes them again. */
const FOLLOWS = new Set(['referredPatients']);

/** Whether a kind links to the target and does not survive its deletion. */
function holds(kind: Kind, target: string): boolean {
  return kind.target === target && kind.survives !== true;
}
