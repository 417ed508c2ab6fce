import sql, { raw, type Sql } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { domainTypeOf, locationFieldOf, NO_LOCATION } from '../../catalog/stream/domains.ts';
import { formatRoutingKey } from '../../catalog/stream/routingkeys.ts';
import { type Actor, appendAudit } from '../audit/entries.ts';
import { recordChange } from '../engine/changes.ts';
import { findOrganizationByKey } from '../organizations.ts';
import { groupsOf } from '../reports/groups.ts';
import type { Organization } from '../service.ts';
import { columnName, type JsonRecord, layoutOf, tableOf } from '../store/layout.ts';
import { RowBuffer } from '../store/rows.ts';
import type { Transaction } from '../store/store.ts';

const PAGE = 500;

const IMPORT: Actor = { who: 'import', address: null, requestId: null };

/** Records of one kind in a row that were not there before: so many are told of by the database itself. */
const LONG_RUN = 200;

/** New records of one kind, noted one after another: the notes from `from` to `to`. */
interface Run {
  readonly org: number;
  readonly resource: Resource;
  readonly from: number;
  to: number;
}

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
  private readonly fresh: RowBuffer;
  private indexed = false;
  private readonly runs: Run[] = [];
  private readonly organizations = new Map<number, Organization | undefined>();

  constructor(tx: Transaction) {
    this.tx = tx;
    this.fresh = new RowBuffer(tx, 'INSERT INTO import_changes (seq, org, type, id)', 4);
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
    this.follow(org, resource, fresh);
    if (fresh) return this.fresh.add([this.noted, org, resource.type, id]);
    await this.fresh.flush();
    // Few imports name a record twice, or one that is there: the others do without.
    if (!this.indexed)
      await this.tx.run(sql`CREATE UNIQUE INDEX import_changes_by_id ON import_changes (org, type, id)`);
    this.indexed = true;
    await this.tx.run(sql`INSERT INTO import_changes (seq, org, type, id, before) VALUES (${this.noted}, ${org}, ${resource.type}, ${id},
      (SELECT r.json FROM ${raw(tableOf(resource))} r WHERE r.org = ${org} AND r.id = ${id})) ON CONFLICT DO NOTHING`);
  }

  /** Keeps where long runs of new records are; a run that stays short makes room for the next one. */
  private follow(org: number, resource: Resource, fresh: boolean): void {
    const last = this.runs.at(-1);
    if (fresh && last?.org === org && last.resource === resource && last.to === this.noted - 1) {
      last.to = this.noted;
      return;
    }
    if (last !== undefined && last.to - last.from + 1 < LONG_RUN) this.runs.pop();
    if (fresh) this.runs.push({ org, resource, from: this.noted, to: this.noted });
  }

  /** Tells of all changes; `at` is the time of the import. */
  async settle(at: string): Promise<void> {
    await this.fresh.flush();
    let told = 0;
    for (const run of this.runs) {
      await this.tellEach(told, run.from - 1, at);
      if (!(await this.tellRun(run, at))) await this.tellEach(run.from - 1, run.to, at);
      told = run.to;
    }
    await this.tellEach(told, this.noted, at);
    await this.tx.run(sql`DROP TABLE import_changes`);
    for (const { org, operation, count } of this.told.values()) {
      await appendAudit(this.tx, { org, at, actor: IMPORT, operation, count });
    }
  }

  /** Has the database tell of a run; false when it cannot: then each is told of by itself. */
  private async tellRun({ org, resource, from, to }: Run, at: string): Promise<boolean> {
    const organization = await this.organizationOf(org);
    const location = locationColumn(resource);
    if (organization === undefined || location === undefined) return false;
    const rows = sql`FROM import_changes c CROSS JOIN ${raw(tableOf(resource))} r
      WHERE r.org = c.org AND r.id = c.id AND c.seq >= ${from} AND c.seq <= ${to}`;
    // A line may have deleted what one before it has made.
    const left = await this.tx.get<{ found: number }>(sql`SELECT COUNT(*) AS found ${rows}`);
    const count = to - from + 1;
    if (left?.found !== count) return false;
    const key = { organizationId: organization.id, locationId: ' ', domainType: domainTypeOf(resource) };
    const [before, after] = formatRoutingKey({ ...key, operation: 'CREATE' }).split(' ');
    await this.tx.appendSelected(
      sql`SELECT c.seq - CAST(${from - 1} AS BIGINT) AS position, c.org AS org,
        CAST(${before} AS TEXT) || ${location} || CAST(${after} AS TEXT) AS routing_key,
        CAST(${at} AS TEXT) AS sent_at, CAST(NULL AS TEXT) AS correlation_id, r.json AS payload ${rows}`,
      count,
    );
    this.count(org, `${resource.name}.create`, count);
    return true;
  }

  /** Tells of the records noted after `after`, up to `to`, one by one. */
  private async tellEach(after: number, to: number, at: string): Promise<void> {
    for (let told = after; told < to; ) {
      const page = await this.tx.all<NotedChange>(
        sql`SELECT seq, org, type, id, before FROM import_changes WHERE seq > ${told} AND seq <= ${to} ORDER BY seq LIMIT ${PAGE}`,
      );
      const now = await this.read(page);
      for (const noted of page) {
        const organization = await this.organizationOf(noted.org);
        if (organization !== undefined) await this.tell(noted, now.get(nameOf(noted)), organization, at);
      }
      if (page.length < PAGE) return;
      told = page.at(-1)?.seq ?? to;
    }
  }

  private async organizationOf(org: number): Promise<Organization | undefined> {
    if (!this.organizations.has(org)) this.organizations.set(org, await findOrganizationByKey(this.tx, org));
    return this.organizations.get(org);
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
    this.count(org, `${resource.name}.${verb}`, 1);
  }

  private count(org: number, operation: string, count: number): void {
    const counted = this.told.get(`${org} ${operation}`) ?? { org, operation, count: 0 };
    counted.count += count;
    this.told.set(`${org} ${operation}`, counted);
  }
}

/** The location of a record as its routing key has it (`locationOf`); undefined where no column tells it. */
function locationColumn(resource: Resource): Sql | undefined {
  const field = locationFieldOf(resource);
  if (field === undefined) return sql`CAST(${NO_LOCATION} AS TEXT)`;
  const column = columnName(`${field}.id`);
  if (!layoutOf(resource).columns.some(({ name }) => name === column)) return undefined;
  return sql`COALESCE(CAST(r.${raw(column)} AS TEXT), ${NO_LOCATION})`;
}

function nameOf({ org, type, id }: Pick<NotedChange, 'org' | 'type' | 'id'>): string {
  return `${org} ${type} ${id}`;
}

const BY_TYPE = new Map(STORED_RESOURCES.map((resource) => [resource.type, resource]));

function parsed(json: string | null | undefined): JsonRecord | undefined {
  return json == null ? undefined : (JSON.parse(json) as JsonRecord);
}
