import { quoted } from '../names.ts';
import { type MirrorRecord, recordOf } from '../records.ts';
import type {
  Finding,
  LoadProgress,
  MirroredDocument,
  MirrorFacts,
  MirrorStore,
  Publication,
  PublishedTable,
  ReceivedChange,
  ResourceState,
  RowChanges,
} from '../store.ts';
import { doubtful } from '../sync/lossguard.ts';
import { findTable, type MirrorTable } from '../tables.ts';
import { type StoredValue, storedValue } from '../values.ts';
import { affectedQuery } from './affected.ts';
import type { Bound, MirrorDatabase, Target } from './database.ts';
import { type MirrorOptions, prepareMirror } from './preparing.ts';
import { isMissing, Publisher } from './publishing.ts';
import { DISCARD, heldTable } from './schema.ts';
import { readFacts, readResource, writeFact, writeResource } from './state.ts';
import { TableSet } from './tableset.ts';

/** A mirror in a database (D52). Errors of the database are Failures. */
export class SqlMirror implements MirrorStore {
  readonly tables: TableSet;
  private readonly now: () => number;

  private constructor(
    readonly database: MirrorDatabase,
    readonly facts: MirrorFacts,
    { instantOf, now }: Pick<MirrorOptions, 'instantOf' | 'now'>,
  ) {
    this.now = now;
    this.tables = new TableSet(database, facts, instantOf);
  }

  /** Opens a mirror to write, or makes one where there is none. */
  static async open(database: MirrorDatabase, facts: MirrorFacts, options: MirrorOptions): Promise<SqlMirror> {
    await database.script(heldTable(database.dialect));
    return database.transaction(async () => {
      const mirror = new SqlMirror(database, facts, options);
      await prepareMirror(mirror, options);
      return mirror;
    });
  }

  get name(): string {
    return this.database.name;
  }

  resource({ resource }: MirrorTable): Promise<ResourceState> {
    return readResource(this.database, resource.name);
  }

  async saveResource(table: MirrorTable, state: Partial<ResourceState>): Promise<void> {
    await this.database.transaction(() => this.writeState(table, state));
  }

  async load(table: MirrorTable, records: readonly MirrorRecord[], progress: LoadProgress): Promise<void> {
    await this.database.transaction(async () => {
      const at = new Date(this.now()).toISOString();
      const storable = this.storable(records);
      await this.tables.learn(table, storable);
      await (await this.tables.writerOf(table, false)).load(storable, at);
      await this.writeState(table, { progress });
    });
  }

  async stage(table: MirrorTable, records: readonly MirrorRecord[]): Promise<void> {
    await this.database.transaction(async () => {
      const storable = this.storable(records);
      await this.tables.learn(table, storable);
      const { name } = table.resource;
      const rows = storable.map(({ id, text }) => [name, idOf(id), text]);
      await this.database.insert('_staged', columns(RESOURCE, ID, 'record'), rows, { key: [RESOURCE, ID] });
    });
  }

  async stageIds({ resource }: MirrorTable, ids: readonly string[]): Promise<void> {
    const rows = ids.map((id) => [resource.name, idOf(id)]);
    await this.database.transaction(() =>
      this.database.insert('_found', columns(RESOURCE, ID), rows, { key: [RESOURCE, ID], keeps: true }),
    );
  }

  async discard(): Promise<void> {
    await this.database.transaction(async () => {
      await this.database.script(DISCARD);
      await this.tables.learnAgain();
    });
  }

  async receive(changes: readonly ReceivedChange[]): Promise<void> {
    await this.database.transaction(async () => {
      const known = await this.number('SELECT coalesce(max(number), 0) AS number FROM _received');
      const rows: StoredValue[][] = [];
      for (const { table, id, operation, at, payload } of changes) {
        const text = this.database.storableText(payload);
        if (operation !== 'DELETE') await this.tables.learn(table, [recordOf(text)]);
        rows.push([known + rows.length + 1, table.resource.name, idOf(id), operation, at, text]);
      }
      const names = columns('number', RESOURCE, ID, 'operation', 'at', 'payload');
      await this.database.insert('_received', names, rows);
    });
  }

  receivedCount(table?: MirrorTable): Promise<number> {
    if (table === undefined) return this.number('SELECT count(*) AS number FROM _received');
    const { name } = table.resource;
    return this.number('SELECT count(*) AS number FROM _received WHERE resource = :name', { name });
  }

  unknownIds(table: MirrorTable, limit: number): Promise<readonly string[]> {
    const { name } = table.resource;
    return this.ids(
      `SELECT CAST(f.id AS TEXT) AS id FROM (
        SELECT id FROM _found WHERE resource = :name
        UNION SELECT id FROM _received WHERE resource = :name AND operation = 'UPDATE'
      ) AS f
      WHERE NOT EXISTS (SELECT 1 FROM ${quoted(table.name)} AS t WHERE t.id = f.id)
        AND NOT EXISTS (SELECT 1 FROM _staged AS s WHERE s.resource = :name AND s.id = f.id)
        AND NOT EXISTS (SELECT 1 FROM _received AS c WHERE c.resource = :name AND c.id = f.id AND c.operation <> 'UPDATE')
      ORDER BY f.id LIMIT ${limit}`,
      { name },
    );
  }

  async undatedIds(table: MirrorTable, after: string, limit: number): Promise<readonly string[]> {
    const { columns: own } = await this.tables.rowsOf(table);
    if (!own.some(({ name }) => name === 'last_modified')) return [];
    return this.ids(
      `SELECT CAST(id AS TEXT) AS id FROM ${quoted(table.name)} AS t
      WHERE last_modified IS NULL AND t.id > CAST(:after AS BIGINT) ORDER BY t.id LIMIT ${limit}`,
      { after },
    );
  }

  async documents(after: string, limit: number): Promise<readonly MirroredDocument[]> {
    const { columns: own } = await this.tables.rowsOf(findTable('documents') as MirrorTable);
    const of = (name: string) => (own.some((column) => column.name === name) ? `t.${name}` : 'NULL');
    return this.database.rows<MirroredDocument>(
      `SELECT CAST(t.id AS TEXT) AS id, ${of('name')} AS name, ${of('guid_name')} AS guid FROM documents AS t
      WHERE t.id > CAST(:after AS BIGINT) ORDER BY t.id LIMIT ${limit}`,
      { after },
    );
  }

  async affectedIds(table: MirrorTable, found: Finding | null): Promise<readonly string[]> {
    const { table: own } = await this.tables.rowsOf(table);
    const query = affectedQuery(own, found, this.database.dialect);
    return query === undefined ? [] : this.ids(query, { name: table.resource.name });
  }

  expectedRows(table: MirrorTable): Promise<number> {
    const { name } = table.resource;
    const text = `WITH last AS (SELECT id, operation FROM _received AS r WHERE resource = :name
        AND number = (SELECT max(number) FROM _received AS l WHERE l.resource = :name AND l.id = r.id)),
      coming AS (SELECT id FROM last WHERE operation <> 'DELETE' UNION
        SELECT id FROM _staged WHERE resource = :name AND id NOT IN (SELECT id FROM last))
      SELECT (SELECT count(*) FROM ${quoted(table.name)})
        + (SELECT count(*) FROM coming AS c WHERE NOT EXISTS (SELECT 1 FROM ${quoted(table.name)} AS t WHERE t.id = c.id))
        - (SELECT count(*) FROM last WHERE operation = 'DELETE'
          AND EXISTS (SELECT 1 FROM ${quoted(table.name)} AS t WHERE t.id = last.id)) AS number`;
    return this.number(text, { name });
  }

  async missingRows(table: MirrorTable, found: Finding): Promise<{ readonly rows: number; readonly missing: number }> {
    const text = `SELECT count(*) AS rows, count(*) FILTER (WHERE ${isMissing(found)}) AS missing FROM ${quoted(table.name)} AS t`;
    type Counts = { readonly rows: number; readonly missing: number };
    const [counts] = (await this.database.rows<Counts>(text, { name: table.resource.name })) as [Counts];
    return counts;
  }

  missingIds(table: MirrorTable, found: Finding, limit: number): Promise<readonly string[]> {
    const text = `SELECT CAST(t.id AS TEXT) AS id FROM ${quoted(table.name)} AS t WHERE ${isMissing(found)} LIMIT ${limit}`;
    return this.ids(text, { name: table.resource.name });
  }

  locations(): Promise<readonly string[]> {
    const { numberAt } = this.database.dialect;
    const links = this.tables.tables.flatMap(({ name, resource, columns: own }) =>
      own
        .filter(({ path }) => /^(preferredL|l)ocation$/.test(path[0] ?? ''))
        .flatMap((column) => [
          `SELECT CAST(${quoted(column.name)} AS BIGINT) AS id FROM ${quoted(name)}`,
          `SELECT ${numberAt('record', column.field ?? '')} FROM _staged WHERE resource = '${resource.name}'`,
          `SELECT ${numberAt('payload', column.field ?? '')} FROM _received WHERE resource = '${resource.name}'`,
        ]),
    );
    return this.ids(
      `SELECT CAST(l.id AS TEXT) AS id FROM (SELECT DISTINCT id FROM (${links.join(' UNION ALL ')}) AS links WHERE id IS NOT NULL) AS l
      ORDER BY l.id`,
    );
  }

  async askedLocations(): Promise<readonly string[]> {
    return (await readFacts(this.database)).locations ?? [];
  }

  async publish({ tables, locations, at }: Publication): Promise<ReadonlyMap<MirrorTable, RowChanges>> {
    return this.database.transaction(async () => {
      const publisher = new Publisher(this.database, this.tables, this.facts.history, at);
      const changes = new Map<MirrorTable, RowChanges>();
      for (const [table, published] of tables) {
        await this.checkFound(table, published);
        const { state, ...counts } = await publisher.publish(table, published, await this.resource(table));
        await this.writeState(table, state);
        changes.set(table, counts);
      }
      await this.database.script(DISCARD);
      if (locations !== undefined) await writeFact(this.database, 'locations', locations);
      return changes;
    });
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private async checkFound(table: MirrorTable, { found, missing: told }: PublishedTable): Promise<void> {
    if (found === null) return;
    const { rows, missing } = await this.missingRows(table, found);
    if (missing > told) throw doubtful(table, rows, missing, 'What was read of them has been lost.');
  }

  private writeState({ resource }: MirrorTable, state: Partial<ResourceState>): Promise<void> {
    return writeResource(this.database, resource.name, state);
  }

  private storable(records: readonly MirrorRecord[]): readonly MirrorRecord[] {
    return records.map((record) => this.database.storable(record));
  }

  private async number(text: string, bound: Bound = {}): Promise<number> {
    const [row] = await this.database.rows<{ number: number }>(text, bound);
    return row?.number ?? 0;
  }

  private async ids(text: string, bound: Bound = {}): Promise<string[]> {
    return (await this.database.rows<{ id: string }>(text, bound)).map(({ id }) => id);
  }
}

const RESOURCE = 'resource';
const ID = 'id';
const WHOLE_NUMBERS = new Set([ID, 'number']);

/** Columns of tables of our own. */
function columns(...names: readonly string[]): Target[] {
  return names.map((name) => ({ name, type: WHOLE_NUMBERS.has(name) ? 'integer' : 'text' }));
}

/** An id as a database takes it. */
export function idOf(id: unknown): StoredValue {
  return storedValue('integer', id, () => Number.NaN);
}
