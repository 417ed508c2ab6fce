import type { Connection } from '../../../sqlite/open.ts';
import { quoted } from '../names.ts';
import type { MirrorRecord } from '../records.ts';
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
import { findTable, MIRROR_TABLES, type MirrorTable } from '../tables.ts';
import type { InstantOf } from '../values.ts';
import { ELSEWHERE } from '../views.ts';
import { type LocalZones, zonesText } from '../zones.ts';
import { guarded, markAsMirror, openToWrite } from './connection.ts';
import { documentsAfter } from './documents.ts';
import { locationsQuery } from './locations.ts';
import { offsetsOf } from './offsets.ts';
import { idOf, isMissing, Publisher } from './publishing.ts';
import { referrersQuery } from './referrers.ts';
import { HELD, OWN_TABLES } from './schema.ts';
import { readFacts, readResource, STATE_COLUMNS, stateValues } from './state.ts';
import { TableSet } from './tableset.ts';

/** What a mirror needs besides its facts. */
export interface MirrorOptions {
  /** Of local times in views. */
  readonly zones: LocalZones;
  /** Reads times without a zone. */
  readonly instantOf: InstantOf;
  /** UTC milliseconds. */
  readonly now: () => number;
}

/** A mirror in a SQLite file (D52). Errors of the database are Failures with exit code 9. */
export class SqliteMirror implements MirrorStore {
  readonly tables: TableSet;
  private readonly now: () => number;

  private constructor(
    readonly file: string,
    readonly connection: Connection,
    readonly facts: MirrorFacts,
    { instantOf, now }: Pick<MirrorOptions, 'instantOf' | 'now'>,
  ) {
    this.now = now;
    this.tables = new TableSet(connection, facts, instantOf);
  }

  /** Opens a mirror to write, or makes one where there is none. */
  static open(file: string, facts: MirrorFacts, options: MirrorOptions): SqliteMirror {
    const connection = openToWrite(file);
    try {
      return guarded(file, () => {
        connection.exec(HELD);
        const isNew = connection.prepare("SELECT 1 FROM sqlite_master WHERE name = '_mirror'").get() === undefined;
        const write = connection.transaction(() => {
          if (isNew) markAsMirror(connection);
          if (isNew) connection.exec(OWN_TABLES);
          const before = readFacts(connection).facts;
          const mirror = new SqliteMirror(file, connection, facts, options);
          if (isNew) mirror.create();
          else mirror.upgrade();
          if (!isNew && facts.history && !before?.history) mirror.beginHistory();
          mirror.writeFacts();
          if (facts.deidentified) mirror.tables.ageOut(options.now());
          if (before !== undefined && before.url !== facts.url) mirror.distrust();
          mirror.writeZones(options.zones);
          return mirror;
        });
        return write.immediate();
      });
    } catch (cause) {
      connection.close();
      throw cause;
    }
  }

  resource({ resource }: MirrorTable): ResourceState {
    return readResource(this.connection, resource.name);
  }

  async saveResource(table: MirrorTable, state: Partial<ResourceState>): Promise<void> {
    this.write(() => this.writeState(table, state));
  }

  async load(table: MirrorTable, records: readonly MirrorRecord[], progress: LoadProgress): Promise<void> {
    this.write(() => {
      const at = new Date(this.now()).toISOString();
      this.tables.learn(table, records);
      const writer = this.tables.writerOf(table, false);
      for (const record of records) writer.load(record, at);
      this.writeState(table, { progress });
    });
  }

  async stage({ resource }: MirrorTable, records: readonly MirrorRecord[]): Promise<void> {
    this.write(() => {
      const insert = this.connection.prepare('INSERT OR REPLACE INTO _staged (resource, id, record) VALUES (?, ?, ?)');
      for (const { id, text } of records) insert.run(resource.name, idOf(id), text);
    });
  }

  async stageIds({ resource }: MirrorTable, ids: readonly string[]): Promise<void> {
    this.write(() => {
      const insert = this.connection.prepare('INSERT OR IGNORE INTO _found (resource, id) VALUES (?, ?)');
      for (const id of ids) insert.run(resource.name, idOf(id));
    });
  }

  async discard(): Promise<void> {
    this.write(() => this.connection.exec('DELETE FROM _staged; DELETE FROM _found; DELETE FROM _received'));
  }

  async receive(changes: readonly ReceivedChange[]): Promise<void> {
    this.write(() => {
      const insert = this.connection.prepare(
        'INSERT INTO _received (resource, id, operation, at, payload) VALUES (?, ?, ?, ?, ?)',
      );
      for (const { table, id, operation, at, payload } of changes)
        insert.run(table.resource.name, idOf(id), operation, at, payload);
    });
  }

  receivedCount(table?: MirrorTable): number {
    const where = table === undefined ? '' : ' WHERE resource = :name';
    const name = table?.resource.name;
    const statement = this.connection.prepare<[object], number>(`SELECT count(*) FROM _received${where}`);
    return guarded(this.file, () => statement.pluck().get({ name }) as number);
  }

  unknownIds(table: MirrorTable, limit: number): readonly string[] {
    return this.ids(
      `SELECT id FROM (
        SELECT id FROM _found WHERE resource = :name
        UNION SELECT id FROM _received AS r WHERE resource = :name AND operation = 'UPDATE' AND NOT EXISTS (
          SELECT 1 FROM _received AS e WHERE e.resource = :name AND e.id = r.id AND e.operation = 'CREATE')
      ) AS f
      WHERE NOT EXISTS (SELECT 1 FROM ${quoted(table.name)} AS t WHERE t.id = f.id)
        AND NOT EXISTS (SELECT 1 FROM _staged AS s WHERE s.resource = :name AND s.id = f.id)
        AND NOT EXISTS (SELECT 1 FROM _received AS c WHERE c.resource = :name AND c.id = f.id AND c.operation <> 'UPDATE')
      ORDER BY id LIMIT ${limit}`,
      { name: table.resource.name },
    );
  }

  undatedIds(table: MirrorTable, after: string, limit: number): readonly string[] {
    if (!this.tables.rowsOf(table).columns.some(({ name }) => name === 'last_modified')) return [];
    return this.ids(
      `SELECT id FROM ${quoted(table.name)} WHERE last_modified IS NULL AND id > :after ORDER BY id LIMIT ${limit}`,
      { after: idOf(after) },
    );
  }

  async documents(after: string, limit: number): Promise<readonly MirroredDocument[]> {
    const { columns } = this.tables.rowsOf(findTable('documents') as MirrorTable);
    return guarded(this.file, () => documentsAfter(this.connection, columns, idOf(after), limit));
  }

  referrerIds(table: MirrorTable, found: Finding | null): readonly string[] {
    const query = referrersQuery(this.tables.rowsOf(table).table, found);
    return query === undefined ? [] : this.ids(query, { name: table.resource.name });
  }

  expectedRows(table: MirrorTable): number {
    const { name } = table.resource;
    const text = `WITH last AS (SELECT id, operation FROM _received AS r WHERE resource = :name
        AND number = (SELECT max(number) FROM _received AS l WHERE l.resource = :name AND l.id = r.id)),
      coming AS (SELECT id FROM last WHERE operation <> 'DELETE' UNION
        SELECT id FROM _staged WHERE resource = :name AND id NOT IN (SELECT id FROM last))
      SELECT (SELECT count(*) FROM ${quoted(table.name)})
        + (SELECT count(*) FROM coming AS c WHERE NOT EXISTS (SELECT 1 FROM ${quoted(table.name)} AS t WHERE t.id = c.id))
        - (SELECT count(*) FROM last WHERE operation = 'DELETE'
          AND EXISTS (SELECT 1 FROM ${quoted(table.name)} AS t WHERE t.id = last.id)) AS rows`;
    return guarded(this.file, () => (this.connection.prepare(text).get({ name }) as { rows: number }).rows);
  }

  missingRows(table: MirrorTable, found: Finding): { readonly rows: number; readonly missing: number } {
    const text = `SELECT count(*) AS rows, coalesce(sum(${isMissing(found)}), 0) AS missing FROM ${quoted(table.name)} AS t`;
    const parameters = { name: table.resource.name };
    return guarded(this.file, () => this.connection.prepare(text).get(parameters) as { rows: number; missing: number });
  }

  missingIds(table: MirrorTable, found: Finding, limit: number): readonly string[] {
    const text = `SELECT t.id FROM ${quoted(table.name)} AS t WHERE ${isMissing(found)} LIMIT ${limit}`;
    return this.ids(text, { name: table.resource.name });
  }

  locations(): readonly string[] {
    return this.ids(locationsQuery(this.tables.tables), {});
  }

  askedLocations(): readonly string[] {
    return guarded(this.file, () => readFacts(this.connection).locations ?? []);
  }

  async publish({ tables, locations, at }: Publication): Promise<ReadonlyMap<MirrorTable, RowChanges>> {
    return this.write(() => {
      const publisher = new Publisher(this.connection, this.tables, this.facts.history, at);
      const changes = new Map<MirrorTable, RowChanges>();
      for (const [table, published] of tables) {
        this.checkFound(table, published);
        const { state, ...counts } = publisher.publish(table, published, this.resource(table));
        this.writeState(table, state);
        changes.set(table, counts);
      }
      this.connection.exec('DELETE FROM _staged; DELETE FROM _found; DELETE FROM _received');
      if (locations !== undefined)
        this.connection
          .prepare("INSERT OR REPLACE INTO _facts (name, value) VALUES ('locations', ?)")
          .run(JSON.stringify(locations));
      return changes;
    });
  }

  close(): void {
    this.connection.close();
  }

  private checkFound(table: MirrorTable, { found, missing: told }: PublishedTable): void {
    if (found === null) return;
    const { rows, missing } = this.missingRows(table, found);
    if (missing > told) throw doubtful(table, rows, missing, 'What was read of them has been lost.');
  }

  private create(): void {
    this.tables.create();
    const insert = this.connection.prepare(
      'INSERT INTO _mirror (resource, table_name, organization, url, about) VALUES (?, ?, ?, ?, ?)',
    );
    const { organization, url } = this.facts;
    for (const { resource, name } of MIRROR_TABLES) insert.run(resource.name, name, organization, url, resource.about);
  }

  /** Tables that are being loaded get their first versions when they are whole. */
  /** Adds what a file of an older version may lack: indexes, and zones of locations. */
  private upgrade(): void {
    for (const table of MIRROR_TABLES) if (this.resource(table).complete) this.tables.createIndexes(table);
    this.tables.addZones();
  }

  private beginHistory(): void {
    this.tables.createHistory();
    const at = new Date(this.now()).toISOString();
    for (const table of MIRROR_TABLES) if (this.resource(table).complete) this.tables.beginHistory(table, at);
  }

  /** Another service answers from now on: whole tables have to be compared with it, the others are loaded anew. */
  private distrust(): void {
    for (const table of this.tables.tables) {
      if (!this.resource(table).complete)
        for (const { name } of [table, ...table.children]) this.connection.exec(`DELETE FROM ${quoted(name)}`);
      this.writeState(table, { position: null, since: null, progress: null });
    }
  }

  private writeFacts(): void {
    const { facts } = this;
    this.connection
      .prepare("INSERT OR REPLACE INTO _facts (name, value) VALUES ('facts', ?)")
      .run(JSON.stringify(facts));
    this.connection.prepare('UPDATE _mirror SET url = :url WHERE url <> :url').run({ url: facts.url });
  }

  private writeZones(zones: LocalZones): void {
    if (JSON.stringify(readFacts(this.connection).zones) === JSON.stringify(zones)) return;
    const { connection } = this;
    connection.prepare("INSERT OR REPLACE INTO _facts (name, value) VALUES ('zones', ?)").run(JSON.stringify(zones));
    connection.exec('DELETE FROM _zones; DELETE FROM _offsets');
    const rows = [[String(ELSEWHERE), zones.zone] as const, ...zones.locations];
    const insertZone = connection.prepare('INSERT INTO _zones (location_id, zone) VALUES (?, ?)');
    for (const [location, zone] of rows) insertZone.run(BigInt(location), zone);
    const insert = connection.prepare('INSERT INTO _offsets (zone, since, seconds) VALUES (?, ?, ?)');
    for (const zone of new Set(rows.map(([, name]) => name))) {
      for (const { since, seconds } of offsetsOf(zone)) insert.run(zone, since, seconds);
    }
    const about = connection.prepare('UPDATE _mirror SET about = ? WHERE resource = ?');
    for (const { resource } of MIRROR_TABLES) about.run(`${resource.about}. ${zonesText(zones)}`, resource.name);
  }

  private writeState({ resource }: MirrorTable, state: Partial<ResourceState>): void {
    const { since, progress, ...row } = { ...readResource(this.connection, resource.name), ...state };
    const columns = STATE_COLUMNS.map(([column]) => `${column} = ?`).join(', ');
    this.connection.prepare(`UPDATE _mirror SET ${columns} WHERE resource = ?`).run(...stateValues(row), resource.name);
    this.connection
      .prepare('INSERT OR REPLACE INTO _progress (resource, since, read) VALUES (?, ?, ?)')
      .run(resource.name, since, progress === null ? null : JSON.stringify(progress));
  }

  private ids(text: string, parameters: Record<string, string | bigint | number>): string[] {
    const statement = this.connection.prepare<[typeof parameters], bigint>(text).pluck().safeIntegers();
    return guarded(this.file, () => statement.all(parameters).map(String));
  }

  private write<T>(work: () => T): T {
    return guarded(this.file, () => this.connection.transaction(work).immediate());
  }
}
