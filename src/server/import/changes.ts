import sql, { raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { type Actor, appendAudit } from '../audit/entries.ts';
import { recordChange } from '../engine/changes.ts';
import { findOrganizationByKey } from '../organizations.ts';
import { groupsOf } from '../reports/groups.ts';
import type { Organization } from '../service.ts';
import { type JsonRecord, tableOf } from '../store/layout.ts';
import { Rows } from '../store/rows.ts';
import type { Transaction } from '../store/store.ts';

const PAGE = 500;

const IMPORT: Actor = { who: 'import', address: null, requestId: null };

interface NotedChange {
  readonly seq: number;
  readonly org: number;
  readonly type: string;
  readonly id: number;
  readonly before: string | null;
}

/**
 * What the records of an import were before it. When all lines are in, each record that has become another is told
 * of once, as it has become in the end, in the order in which the lines named them.
 */
export class ChangeBook {
  private readonly tx: Transaction;
  /** Changes told, by organization and what was done: one entry each goes into the audit log. */
  private readonly told = new Map<string, { readonly org: number; readonly operation: string; count: number }>();

  private noted = 0;

  /** Records that were not there before. */
  private readonly fresh: Rows;
  private indexed = false;

  constructor(tx: Transaction) {
    this.tx = tx;
    this.fresh = new Rows(tx, 'INSERT INTO import_changes (seq, org, type, id)', 4);
  }

  async open(): Promise<void> {
    await this.tx.run(sql`CREATE TEMP TABLE import_changes (seq BIGINT PRIMARY KEY, org BIGINT NOT NULL,
      type TEXT NOT NULL, id BIGINT NOT NULL, before TEXT)`);
  }

  /**
   * Keeps what a record is now, the first time it is named; call it before the record is written or removed. `fresh`:
   * no record has the id, and no line has named it.
   */
  async note(org: number, resource: Resource, id: number, fresh = false): Promise<void> {
    this.noted++;
    if (fresh) return this.fresh.add([this.noted, org, resource.type, id]);
    await this.fresh.flush();
    // Few imports name a record twice, or one that is there: the others do without.
    if (!this.indexed)
      await this.tx.run(sql`CREATE UNIQUE INDEX import_changes_by_id ON import_changes (org, type, id)`);
    this.indexed = true;
    await this.tx.run(sql`INSERT INTO import_changes (seq, org, type, id, before) VALUES (${this.noted}, ${org}, ${resource.type}, ${id},
      (SELECT r.json FROM ${raw(tableOf(resource))} r WHERE r.org = ${org} AND r.id = ${id})) ON CONFLICT DO NOTHING`);
  }

  /** Tells of all changes; `at` is the time of the import. */
  async settle(at: string): Promise<void> {
    await this.fresh.flush();
    const organizations = new Map<number, Organization | undefined>();
    for (let after = 0; ; ) {
      const page = await this.tx.all<NotedChange>(
        sql`SELECT seq, org, type, id, before FROM import_changes WHERE seq > ${after} ORDER BY seq LIMIT ${PAGE}`,
      );
      const now = await this.read(page);
      for (const noted of page) {
        if (!organizations.has(noted.org)) {
          organizations.set(noted.org, await findOrganizationByKey(this.tx, noted.org));
        }
        const organization = organizations.get(noted.org);
        if (organization !== undefined) await this.tell(noted, now.get(nameOf(noted)), organization, at);
      }
      if (page.length < PAGE) break;
      after = page.at(-1)?.seq ?? after;
    }
    await this.tx.run(sql`DROP TABLE import_changes`);
    for (const { org, operation, count } of this.told.values()) {
      await appendAudit(this.tx, { org, at, actor: IMPORT, operation, count });
    }
  }

  /** What the records of a page are now, as JSON text. */
  private async read(page: readonly NotedChange[]): Promise<Map<string, string>> {
    const now = new Map<string, string>();
    // CROSS JOIN keeps SQLite from walking the whole of the other table: the page leads.
    const [from, to] = [page[0]?.seq ?? 0, page.at(-1)?.seq ?? 0];
    for (const [, noted] of groupsOf(page, ({ org, type }) => `${org} ${type}`)) {
      const { org, type } = noted[0] as NotedChange;
      const rows = await this.tx.all<{ id: number; json: string }>(
        sql`SELECT r.id, r.json FROM import_changes c CROSS JOIN ${raw(tableOf(BY_TYPE.get(type) as Resource))} r
          WHERE r.org = c.org AND r.id = c.id AND c.seq >= ${from} AND c.seq <= ${to} AND c.org = ${org} AND c.type = ${type}`,
      );
      for (const { id, json } of rows) now.set(nameOf({ org, type, id }), json);
    }
    return now;
  }

  private async tell(
    { org, type, before }: NotedChange,
    now: string | undefined,
    organization: Organization,
    at: string,
  ): Promise<void> {
    const resource = BY_TYPE.get(type) as Resource;
    // Most lines of a repeated import change nothing: equal texts need no reading.
    if ((now ?? null) === before) return;
    const [was, is] = [parsed(before), parsed(now)];
    const text = now === undefined ? {} : { json: now };
    await recordChange(this.tx, { organization, actor: undefined, resource, before: was, after: is, ...text, at });
    const verb = before === null ? 'create' : now === undefined ? 'delete' : 'update';
    const operation = `${resource.name}.${verb}`;
    const counted = this.told.get(`${org} ${operation}`) ?? { org, operation, count: 0 };
    counted.count++;
    this.told.set(`${org} ${operation}`, counted);
  }
}

function nameOf({ org, type, id }: Pick<NotedChange, 'org' | 'type' | 'id'>): string {
  return `${org} ${type} ${id}`;
}

const BY_TYPE = new Map(STORED_RESOURCES.map((resource) => [resource.type, resource]));

function parsed(json: string | null | undefined): JsonRecord | undefined {
  return json == null ? undefined : (JSON.parse(json) as JsonRecord);
}
