import { sqlState } from '../../../postgres/unusable.ts';
import { quoted } from '../names.ts';
import type { MirrorRecord } from '../records.ts';
import type { TableRows } from '../rows.ts';
import type {
  ChangeCounts,
  Deletion,
  MirrorDatabase,
  TableWriter,
  Target,
  Version,
  WriterParts,
} from '../sql/database.ts';
import { type MirrorColumn, RECORD, SYNCED_AT } from '../tables.ts';
import type { StoredValue } from '../values.ts';
import { withoutBlanks } from './values.ts';

const PARENT: Target = { name: 'parent', type: 'integer' };
const ORDINAL: Target = { name: 'ordinal', type: 'integer' };
const SINCE: Target = { name: '_since', type: 'instant' };
const OWN: readonly Target[] = [
  { name: SYNCED_AT, type: 'instant' },
  { name: RECORD, type: 'json' },
];

/** unique_violation */
const DUPLICATE = '23505';

/**
 * Writes rows of one table in PostgreSQL, many at once: they are copied into temporary tables with the same columns, and
 * from there what differs goes into the table, its child tables, its tombstones and its history.
 */
export class PostgresWriter implements TableWriter {
  private readonly name: string;
  private readonly deleted: string;
  private readonly history: string;
  /** Columns of the table, and of the temporary one with what is to be written. */
  private readonly columns: readonly Target[];
  private readonly names: string;
  private readonly fresh: string;
  private readonly gone: string;
  private isPrepared = false;

  private readonly rows: TableRows;
  readonly hasHistory: boolean;
  private readonly changes: ChangeCounts;
  private readonly rebuilder: WriterParts['rebuilder'];

  constructor(
    private readonly database: Pick<MirrorDatabase, 'dialect' | 'insert' | 'rows' | 'run' | 'script'>,
    { rows, hasHistory, changes, rebuilder }: WriterParts,
  ) {
    this.rows = rows;
    this.hasHistory = hasHistory;
    this.changes = changes;
    this.rebuilder = rebuilder;
    const { name } = rows.table;
    this.name = quoted(name);
    this.deleted = quoted(`${name}_deleted`);
    this.history = quoted(`${name}_history`);
    this.fresh = quoted(`_fresh_${name}`);
    this.gone = quoted(`_gone_${name}`);
    this.columns = [...rows.columns, ...OWN];
    this.names = this.columns.map((column) => quoted(column.name)).join(', ');
  }

  async load(records: readonly MirrorRecord[], at: string): Promise<void> {
    const distinct = [...new Map(records.map((record) => [String(record.id), record])).values()];
    const versions = distinct.map((record) => ({ record, since: at }));
    const write = async () => {
      const lists = this.emptyLists();
      await this.database.insert(this.name, this.columns, this.made(versions, at, lists));
      for (const [index, child] of this.rows.table.children.entries()) {
        const key: Target = { name: child.parentKey, type: 'integer' };
        await this.database.insert(quoted(child.name), [key, ORDINAL, ...child.columns], lists[index] ?? []);
      }
    };
    // A crash costs the last batches together with the progress that names them: they are loaded again. What publishes
    // the table is synced, and with it all before it.
    await this.database.script('SET LOCAL synchronous_commit = off; SAVEPOINT loading');
    try {
      await write();
    } catch (cause) {
      if (sqlState((cause as Error).cause) !== DUPLICATE) throw cause;
      // Some of them are there already: they are replaced.
      await this.database.script('ROLLBACK TO SAVEPOINT loading');
      const { isAmong, list } = this.database.dialect;
      const bound = { ids: list(distinct.map(({ id }) => String(id))) };
      await this.database.run(`DELETE FROM ${this.name} WHERE ${isAmong('id', ':ids')}`, bound);
      for (const { name, parentKey } of this.rows.table.children)
        await this.database.run(`DELETE FROM ${quoted(name)} WHERE ${isAmong(quoted(parentKey), ':ids')}`, bound);
      await write();
    }
    await this.database.script('RELEASE SAVEPOINT loading');
  }

  async textsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (this.rebuilder !== undefined) return this.rebuilder.recordsOf(ids);
    const { isAmong, list } = this.database.dialect;
    const rows = await this.database.rows<{ id: string; record: string }>(
      `SELECT CAST(id AS text) AS id, CAST(${RECORD} AS text) AS record FROM ${this.name} AS t WHERE ${isAmong('t.id', ':ids')}`,
      { ids: list(ids) },
    );
    return new Map(rows.map(({ id, record }) => [id, withoutBlanks(record)]));
  }

  async put(versions: readonly Version[], at: string): Promise<void> {
    await this.offer(this.rebuilder === undefined ? versions : await this.changed(versions), at);
    await this.database.script(
      `DELETE FROM ${this.fresh} AS f USING ${this.name} AS t WHERE t.id = f.id AND t.${RECORD} = f.${RECORD}`,
    );
    await this.take();
  }

  async rewrite(records: readonly MirrorRecord[], at: string): Promise<void> {
    await this.offer(
      records.map((record) => ({ record, since: at })),
      at,
    );
    await this.take();
  }

  async remove(deletions: readonly Deletion[]): Promise<void> {
    const { database, gone, name, deleted, history, names } = this;
    await this.prepare();
    await database.script(`DELETE FROM ${gone}`);
    const rows = deletions.map(({ id, at }) => [BigInt(id), at]);
    await database.insert(gone, [{ name: 'id', type: 'integer' }, SINCE], rows);
    await database.script(`DELETE FROM ${gone} AS g WHERE NOT EXISTS (SELECT 1 FROM ${name} AS t WHERE t.id = g.id)`);
    // Of a deleted record a de-identified copy keeps that it is gone.
    const isKept = ({ name: column }: Target) =>
      !this.rows.table.isDeidentified || column === 'id' || column === SYNCED_AT;
    const kept = this.columns.filter(isKept);
    const all = [...kept.map((column) => quoted(column.name)), '_deleted_at'];
    this.changes.deleted += await database.run(
      `INSERT INTO ${deleted} (${all.join(', ')}) SELECT ${prefixed('t', kept)}, g._since FROM ${name} AS t JOIN ${gone} AS g ON g.id = t.id
      ON CONFLICT (id) DO UPDATE SET ${all.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    );
    if (this.hasHistory) {
      await database.script(
        `UPDATE ${history} AS h SET _valid_to = g._since FROM ${gone} AS g WHERE h.id = g.id AND h._valid_to IS NULL;
        INSERT INTO ${history} (${names}, _valid_from, _valid_to, _operation)
        SELECT ${prefixed('t', this.columns)}, g._since, g._since, 'DELETE' FROM ${name} AS t JOIN ${gone} AS g ON g.id = t.id`,
      );
    }
    for (const child of this.rows.table.children)
      await database.script(
        `DELETE FROM ${quoted(child.name)} AS c USING ${gone} AS g WHERE c.${quoted(child.parentKey)} = g.id`,
      );
    await database.script(`DELETE FROM ${name} AS t USING ${gone} AS g WHERE t.id = g.id`);
  }

  /** Those that are not what the rows of their ids are. */
  private async changed(versions: readonly Version[]): Promise<Version[]> {
    const known = await this.textsOf(versions.map(({ record }) => String(record.id)));
    return versions.filter(({ record }) => {
      const before = known.get(String(record.id));
      return before === undefined || !this.rows.isSame(before, record);
    });
  }

  /** Copies what records make into the temporary tables. */
  private async offer(versions: readonly Version[], at: string): Promise<void> {
    await this.prepare();
    const { children } = this.rows.table;
    const temporary = [this.fresh, ...children.map((child) => freshName(child.name))];
    await this.database.script(temporary.map((name) => `DELETE FROM ${name}`).join(';'));
    const lists = this.emptyLists();
    await this.database.insert(this.fresh, [...this.columns, SINCE], this.made(versions, at, lists, true));
    for (const [index, child] of children.entries())
      await this.database.insert(freshName(child.name), [PARENT, ORDINAL, ...child.columns], lists[index] ?? []);
  }

  /** Writes what is offered. */
  private async take(): Promise<void> {
    const { database, fresh, name, history, names } = this;
    const [counts] = await database.rows<{ all: number; known: number }>(
      `SELECT count(*) AS all, count(t.id) AS known FROM ${fresh} AS f LEFT JOIN ${name} AS t ON t.id = f.id`,
    );
    const { all = 0, known = 0 } = counts ?? {};
    if (all === 0) return;
    this.changes.added += all - known;
    this.changes.changed += known;
    if (this.hasHistory) {
      // Before the rows are written: they tell what is new.
      await database.script(
        `UPDATE ${history} AS h SET _valid_to = f._since FROM ${fresh} AS f WHERE h.id = f.id AND h._valid_to IS NULL;
        INSERT INTO ${history} (${names}, _valid_from, _operation)
        SELECT ${prefixed('f', this.columns)}, f._since, CASE WHEN t.id IS NULL THEN 'CREATE' ELSE 'UPDATE' END
        FROM ${fresh} AS f LEFT JOIN ${name} AS t ON t.id = f.id`,
      );
    }
    const sets = this.columns.map((column) => `${quoted(column.name)} = excluded.${quoted(column.name)}`).join(', ');
    await database.script(
      `DELETE FROM ${this.deleted} AS d USING ${fresh} AS f
      WHERE d.id = f.id AND NOT EXISTS (SELECT 1 FROM ${name} AS t WHERE t.id = f.id);
      INSERT INTO ${name} (${names}) SELECT ${names} FROM ${fresh} ON CONFLICT (id) DO UPDATE SET ${sets}`,
    );
    for (const child of this.rows.table.children) {
      const key = quoted(child.parentKey);
      const own = ['ordinal', ...child.columns.map((column) => quoted(column.name))].join(', ');
      await database.script(
        `DELETE FROM ${quoted(child.name)} AS c USING ${fresh} AS f WHERE c.${key} = f.id;
        INSERT INTO ${quoted(child.name)} (${key}, ${own}) SELECT parent, ${own} FROM ${freshName(child.name)}
        WHERE parent IN (SELECT id FROM ${fresh})`,
      );
    }
  }

  /**
   * The rows of records in the order of `columns`, with the time since when they are so where it is asked for; `lists` takes
   * those of their lists, in the order of the child tables.
   */
  private *made(
    versions: readonly Version[],
    at: string,
    lists: StoredValue[][][],
    hasSince = false,
  ): Generator<StoredValue[]> {
    for (const { record, since } of versions) {
      const { id, values, children } = this.rows.rowsOf(record);
      for (const [index, entries] of children.entries())
        for (const [place, entry] of entries.entries()) lists[index]?.push([id, place + 1, ...entry]);
      const text = this.rows.recordText(record);
      yield hasSince ? [...values, at, text, since] : [...values, at, text];
    }
  }

  private emptyLists(): StoredValue[][][] {
    return this.rows.table.children.map(() => []);
  }

  /** Makes the temporary tables with the columns that there are now. */
  private async prepare(): Promise<void> {
    if (this.isPrepared) return;
    const { types } = this.database.dialect;
    const make = (name: string, columns: readonly Target[]) => {
      const definitions = columns.map((column) => `${quoted(column.name)} ${types[column.type]}`).join(', ');
      return `CREATE TEMP TABLE IF NOT EXISTS ${name} (); DROP TABLE pg_temp.${name}; CREATE TEMP TABLE ${name} (${definitions})`;
    };
    const id: Target = { name: 'id', type: 'integer' };
    const statements = [
      make(this.fresh, [...this.columns, SINCE]),
      make(this.gone, [id, SINCE]),
      ...this.rows.table.children.map((child) => make(freshName(child.name), [PARENT, ORDINAL, ...child.columns])),
    ];
    await this.database.script(statements.join(';'));
    this.isPrepared = true;
  }
}

/** The temporary table with entries of lists that are to be written. */
function freshName(table: string): string {
  return quoted(`_fresh_${table}`);
}

function prefixed(alias: string, columns: readonly Pick<MirrorColumn, 'name'>[]): string {
  return columns.map(({ name }) => `${alias}.${quoted(name)}`).join(', ');
}
