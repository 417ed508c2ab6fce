import sql, { raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { recordChange } from '../engine/changes.ts';
import { findOrganizationByKey } from '../organizations.ts';
import type { Organization } from '../service.ts';
import { type JsonRecord, tableOf } from '../store/layout.ts';
import { findRecord } from '../store/records.ts';
import type { Transaction } from '../store/store.ts';

const PAGE = 500;

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

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  async open(): Promise<void> {
    await this.tx.run(sql`CREATE TEMP TABLE IF NOT EXISTS import_changes (seq INTEGER PRIMARY KEY, org INTEGER NOT NULL,
      type TEXT NOT NULL, id INTEGER NOT NULL, before TEXT, UNIQUE (org, type, id))`);
    await this.tx.run(sql`DELETE FROM import_changes`);
  }

  /** Keeps what a record is now, the first time it is named; call it before the record is written or removed. */
  async note(org: number, resource: Resource, id: number): Promise<void> {
    await this.tx.run(sql`INSERT INTO import_changes (org, type, id, before) VALUES (${org}, ${resource.type}, ${id},
      (SELECT r.json FROM ${raw(tableOf(resource))} r WHERE r.org = ${org} AND r.id = ${id})) ON CONFLICT DO NOTHING`);
  }

  /** Tells of all changes; `at` is the time of the import. */
  async settle(at: string): Promise<void> {
    const organizations = new Map<number, Organization | undefined>();
    for (let after = 0; ; ) {
      const page = await this.tx.all<NotedChange>(
        sql`SELECT seq, org, type, id, before FROM import_changes WHERE seq > ${after} ORDER BY seq LIMIT ${PAGE}`,
      );
      for (const noted of page) {
        if (!organizations.has(noted.org)) {
          organizations.set(noted.org, await findOrganizationByKey(this.tx, noted.org));
        }
        const organization = organizations.get(noted.org);
        if (organization !== undefined) await this.tell(noted, organization, at);
      }
      if (page.length < PAGE) break;
      after = page.at(-1)?.seq ?? after;
    }
    await this.tx.run(sql`DELETE FROM import_changes`);
  }

  private async tell({ org, type, id, before }: NotedChange, organization: Organization, at: string): Promise<void> {
    const resource = BY_TYPE.get(type) as Resource;
    const row = await findRecord(this.tx, org, resource, id);
    // Most lines of a repeated import change nothing: equal texts need no reading.
    if (row?.json === before) return;
    await recordChange(this.tx, { organization, resource, before: parsed(before), after: parsed(row?.json), at });
  }
}

const BY_TYPE = new Map(STORED_RESOURCES.map((resource) => [resource.type, resource]));

function parsed(json: string | null | undefined): JsonRecord | undefined {
  return json == null ? undefined : (JSON.parse(json) as JsonRecord);
}
