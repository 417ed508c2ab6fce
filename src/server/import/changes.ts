import sql, { raw, type Sql } from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import { domainTypeOf, locationFieldOf, NO_LOCATION } from '../../catalog/stream/domains.ts';
import { formatRoutingKey } from '../../catalog/stream/routingkeys.ts';
import { type Actor, appendAudit } from '../audit/entries.ts';
import { recordChange } from '../engine/writing.ts';
import { findOrganizationByKey, type Organization } from '../organizations.ts';
import { groupsOf } from '../reports/groups.ts';
import { columnName, type JsonRecord, layoutOf, tableOf } from '../store/layout.ts';
import { patientColumn, patientOf } from '../store/patientof.ts';
import { locationOf } from '../store/reach.ts';
import { RowBuffer } from '../store/rows.ts';
import type { Transaction } from '../store/store.ts';
import { RESOURCE_BY_TYPE } from './kinds.ts';
import { MAX_RANGES, PatientIds } from './patientids.ts';

const PAGE_SIZE = 500;

/** An import, as the audit log names it. */
export const IMPORT: Actor = { who: 'import', address: null, requestId: null };

/** Minimum length of a run of new records of one kind that the database itself publishes. */
const MIN_RUN = 200;

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

/** Records as they were before an import; `settle` publishes each that differs once, in the order of the lines. */
export class ChangeLog {
  /** Published changes by organization and operation: each is one entry of the audit log. */
  private readonly published = new Map<string, { readonly org: number; readonly operation: string; count: number }>();
  /** Lines of each organization, and whose data they changed. */
  private readonly lines = new Map<number, { count: number; readonly patients: PatientIds }>();
  private noted = 0;
  /** Records that did not exist before. */
  private readonly fresh: RowBuffer;
  private indexed = false;
  private readonly runs: Run[] = [];
  private readonly organizations = new Map<number, Organization | undefined>();

  constructor(private readonly tx: Transaction) {
    this.fresh = new RowBuffer(tx, 'INSERT INTO import_changes (seq, org, type, id)', 4);
  }

  async open(): Promise<void> {
    await this.tx.run(sql`CREATE TEMP TABLE import_changes (seq BIGINT PRIMARY KEY, org BIGINT NOT NULL,
      type TEXT NOT NULL, id BIGINT NOT NULL, before TEXT)`);
  }

  /** Stores a record before its first change; `fresh`: no record has the id, and no line has named it. */
  async note(org: number, resource: Resource, id: number, fresh = false): Promise<void> {
    this.noted++;
    this.follow(org, resource, fresh);
    if (fresh) return this.fresh.add([this.noted, org, resource.type, id]);
    await this.fresh.flush();
    // Few imports name a record twice, or one that exists: the others do without the index.
    if (!this.indexed)
      await this.tx.run(sql`CREATE UNIQUE INDEX import_changes_by_id ON import_changes (org, type, id)`);
    this.indexed = true;
    await this.tx.run(sql`INSERT INTO import_changes (seq, org, type, id, before) VALUES (${this.noted}, ${org}, ${resource.type}, ${id},
      (SELECT r.json FROM ${raw(tableOf(resource))} r WHERE r.org = ${org} AND r.id = ${id})) ON CONFLICT DO NOTHING`);
  }

  /** Records where long runs of new records are; a run that stays short is replaced by the next one. */
  private follow(org: number, resource: Resource, fresh: boolean): void {
    const last = this.runs.at(-1);
    if (fresh && last?.org === org && last.resource === resource && last.to === this.noted - 1) {
      last.to = this.noted;
      return;
    }
    if (last !== undefined && last.to - last.from + 1 < MIN_RUN) this.runs.pop();
    if (fresh) this.runs.push({ org, resource, from: this.noted, to: this.noted });
  }

  /** A line of an organization. */
  count(org: number): void {
    this.linesOf(org).count++;
  }

  /** Whose data was changed besides that of the records that were noted. */
  changed(org: number, patient: number | null): void {
    if (patient !== null) this.linesOf(org).patients.add(patient);
  }

  private linesOf(org: number) {
    const lines = this.lines.get(org) ?? { count: 0, patients: new PatientIds() };
    this.lines.set(org, lines);
    return lines;
  }

  /** What the entries of an import tell, one for each organization. */
  told() {
    return [...this.lines].map(([org, { count, patients }]) => ({ org, count, ...patients.told() }));
  }

  /** Publishes and audits all changes; `at` is the time of the import. */
  async settle(at: string): Promise<void> {
    await this.fresh.flush();
    let done = 0;
    for (const run of this.runs) {
      await this.publishEach(done, run.from - 1, at);
      if (!(await this.publishRun(run, at))) await this.publishEach(run.from - 1, run.to, at);
      done = run.to;
    }
    await this.publishEach(done, this.noted, at);
    await this.tx.run(sql`DROP TABLE import_changes`);
    for (const { org, operation, count } of this.published.values()) {
      await appendAudit(this.tx, { org, at, actor: IMPORT, operation, count });
    }
  }

  /** Has the database publish a run; false when it cannot: then each record is published by itself. */
  private async publishRun({ org, resource, from, to }: Run, at: string): Promise<boolean> {
    const organization = await this.organizationOf(org);
    const location = locationColumn(resource);
    if (organization === undefined || location === undefined) return false;
    const rows = sql`FROM import_changes c CROSS JOIN ${raw(tableOf(resource))} r
      WHERE r.org = c.org AND r.id = c.id AND c.seq >= ${from} AND c.seq <= ${to}`;
    // A line may have deleted what an earlier one created.
    const left = await this.tx.get<{ found: number }>(sql`SELECT COUNT(*) AS found ${rows}`);
    const count = to - from + 1;
    if (left?.found !== count) return false;
    const key = { organizationId: organization.id, locationId: ' ', domainType: domainTypeOf(resource) };
    const [before, after] = formatRoutingKey({ ...key, operation: 'CREATE' }).split(' ');
    await this.tx.appendSelected(
      org,
      sql`SELECT c.seq - CAST(${from - 1} AS BIGINT) AS position, c.org AS org,
        CAST(${before} AS TEXT) || ${location} || CAST(${after} AS TEXT) AS routing_key,
        CAST(${at} AS TEXT) AS sent_at, CAST(NULL AS TEXT) AS correlation_id, r.json AS payload,
        COALESCE(CAST(${locationOf(resource.type)} AS TEXT), '') AS places, CAST(NULL AS TEXT) AS record,
        r.id AS record_id, ${raw(patientColumn(resource))} AS patient_id ${rows}`,
      count,
    );
    await this.noteRun(org, rows, resource);
    this.addPublished(org, `${resource.name}.create`, count);
    return true;
  }

  /** Notes whose data the records of a run are: neighbouring ids come from the database as their first and last. */
  private async noteRun(org: number, rows: Sql, resource: Resource): Promise<void> {
    const { patients } = this.linesOf(org);
    const found = await this.tx.all<{ first: number; last: number }>(sql`
      SELECT MIN(id) AS first, MAX(id) AS last FROM (
        SELECT id, id - ROW_NUMBER() OVER (ORDER BY id) AS island FROM (
          SELECT DISTINCT ${raw(patientColumn(resource))} AS id ${rows}) AS own WHERE id IS NOT NULL) AS counted
      GROUP BY island ORDER BY 1 LIMIT ${MAX_RANGES + 1}`);
    for (const { first, last } of found) patients.add(first, last);
  }

  /** Publishes the records noted after `after`, up to `to`, one by one. */
  private async publishEach(after: number, to: number, at: string): Promise<void> {
    for (let done = after; done < to; ) {
      const page = await this.tx.all<NotedChange>(
        sql`SELECT seq, org, type, id, before FROM import_changes WHERE seq > ${done} AND seq <= ${to} ORDER BY seq LIMIT ${PAGE_SIZE}`,
      );
      const now = await this.currentRecords(page);
      for (const noted of page) {
        const organization = await this.organizationOf(noted.org);
        if (organization !== undefined) await this.publish(noted, now.get(keyOf(noted)) ?? null, organization, at);
      }
      if (page.length < PAGE_SIZE) return;
      done = page.at(-1)?.seq ?? to;
    }
  }

  private async organizationOf(org: number): Promise<Organization | undefined> {
    if (!this.organizations.has(org)) this.organizations.set(org, await findOrganizationByKey(this.tx, org));
    return this.organizations.get(org);
  }

  /** The records of a page as they are now, as JSON text. */
  private async currentRecords(page: readonly NotedChange[]): Promise<Map<string, string>> {
    const now = new Map<string, string>();
    const [from, to] = [page[0]?.seq ?? 0, page.at(-1)?.seq ?? 0];
    for (const [, noted] of groupsOf(page, ({ org, type }) => `${org} ${type}`)) {
      const { org, type } = noted[0] as NotedChange;
      // CROSS JOIN makes SQLite begin with the page rather than scan the other table.
      const rows = await this.tx.all<{ id: number; json: string }>(
        sql`SELECT r.id, r.json FROM import_changes c CROSS JOIN ${raw(tableOf(resourceOf(type)))} r
          WHERE r.org = c.org AND r.id = c.id AND c.seq >= ${from} AND c.seq <= ${to} AND c.org = ${org} AND c.type = ${type}`,
      );
      for (const { id, json } of rows) now.set(keyOf({ org, type, id }), json);
    }
    return now;
  }

  private async publish(
    { org, type, before }: NotedChange,
    json: string | null,
    organization: Organization,
    at: string,
  ): Promise<void> {
    // Most lines of a repeated import change nothing: equal texts need not be parsed.
    if (json === before) return;
    const resource = resourceOf(type);
    const change = { organization, actor: undefined, resource, before: parsed(before), after: parsed(json), at };
    await recordChange(this.tx, json === null ? change : { ...change, json });
    // A record that goes to another patient was the data of both.
    for (const record of [change.before, change.after]) {
      if (record !== undefined) this.changed(org, await patientOf(this.tx, org, resource, record));
    }
    const verb = before === null ? 'create' : json === null ? 'delete' : 'update';
    this.addPublished(org, `${resource.name}.${verb}`, 1);
  }

  private addPublished(org: number, operation: string, count: number): void {
    const counted = this.published.get(`${org} ${operation}`) ?? { org, operation, count: 0 };
    counted.count += count;
    this.published.set(`${org} ${operation}`, counted);
  }
}

/** The location of a record as its routing key has it (`locationOf`); undefined where no column holds it. */
function locationColumn(resource: Resource): Sql | undefined {
  const field = locationFieldOf(resource);
  if (field === undefined) return sql`CAST(${NO_LOCATION} AS TEXT)`;
  const column = columnName(`${field}.id`);
  if (!layoutOf(resource).columns.some(({ name }) => name === column)) return undefined;
  return sql`COALESCE(CAST(r.${raw(column)} AS TEXT), ${NO_LOCATION})`;
}

function keyOf({ org, type, id }: Pick<NotedChange, 'org' | 'type' | 'id'>): string {
  return `${org} ${type} ${id}`;
}

function resourceOf(type: string): Resource {
  return RESOURCE_BY_TYPE.get(type) as Resource;
}

function parsed(json: string | null): JsonRecord | undefined {
  return json === null ? undefined : (JSON.parse(json) as JsonRecord);
}
