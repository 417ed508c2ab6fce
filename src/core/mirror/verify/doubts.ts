import { quoted } from '../names.ts';
import { type MirrorRecord, recordOf } from '../records.ts';
import type { Bound, Dialect, MirrorDatabase, Target } from '../sql/database.ts';
import { idOf, type SqlMirror } from '../sql/sqlmirror.ts';
import type { MirrorTable } from '../tables.ts';
import { TableComparison } from './comparison.ts';

/** How a row differs: the table is without it, the service is without it, or they say something else. */
export type Difference = 'missing' | 'extra' | 'different';

function temporaryTables({ types: { integer, text }, keyed }: Dialect): string {
  return `
CREATE TEMP TABLE IF NOT EXISTS _seen (id ${integer} PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS _doubts (
  resource ${text} NOT NULL, id ${integer} NOT NULL, kind ${text} NOT NULL, record ${text}, held ${integer} NOT NULL DEFAULT 0,
  PRIMARY KEY (resource, id)
)${keyed}`;
}

/** Rows that are looked at together. */
const BATCH = 500;

const ID: Target = { name: 'id', type: 'integer' };
const text = (name: string): Target => ({ name, type: 'text' });
const DOUBT = [text('resource'), ID, text('kind'), text('record')];

/** Below every id. */
export const LEAST = String(-(2n ** 63n));

/** Records in which the copy and the service seem to differ, for each resource, until that is settled one way or the other. */
export class Doubts {
  private readonly name: string;
  private readonly database: MirrorDatabase;

  private constructor(
    private readonly mirror: SqlMirror,
    private readonly table: MirrorTable,
    private readonly comparison: TableComparison,
  ) {
    this.database = mirror.database;
    this.name = table.resource.name;
  }

  static async open(mirror: SqlMirror, table: MirrorTable): Promise<Doubts> {
    const { database } = mirror;
    await database.script(temporaryTables(database.dialect));
    return new Doubts(mirror, table, await TableComparison.open(database, mirror.tables, table));
  }

  /** Begins to read everything the service has. */
  async begin(): Promise<void> {
    await this.database.run('DELETE FROM _seen');
  }

  /** Compares records that the service has: those that differ are in doubt, the others no longer. */
  compare(records: readonly MirrorRecord[]): Promise<void> {
    return this.database.transaction(() => this.compareStored(records.map((record) => this.database.storable(record))));
  }

  private async compareStored(records: readonly MirrorRecord[]): Promise<void> {
    const { missing, different } = await this.comparison.compare(records);
    const kinds = new Map<string, Difference>();
    for (const id of missing) kinds.set(id, 'missing');
    for (const id of different) kinds.set(id, 'different');
    const ids = records.map(({ id }) => String(id));
    await this.see(ids);
    const { isAmong, list } = this.database.dialect;
    await this.run(`DELETE FROM _doubts WHERE resource = :name AND ${isAmong('id', ':ids')}`, {
      ids: list(ids.filter((id) => !kinds.has(id))),
    });
    const rows = records
      .filter(({ id }) => kinds.has(String(id)))
      .map(({ id, text }) => [this.name, idOf(id), kinds.get(String(id)) as string, text]);
    await this.database.insert('_doubts', DOUBT, rows, { key: ['resource', 'id'] });
  }

  /** Notes ids that the service has; those without a row are in doubt. */
  async compareIds(ids: readonly string[]): Promise<void> {
    const { isAmong, list } = this.database.dialect;
    await this.database.transaction(async () => {
      await this.see(ids);
      await this.run(
        `INSERT INTO _doubts (resource, id, kind) SELECT :name, s.id, 'missing' FROM _seen AS s
        WHERE ${isAmong('s.id', ':ids')} AND NOT EXISTS (SELECT 1 FROM ${quoted(this.table.name)} AS t WHERE t.id = s.id)
        ON CONFLICT DO NOTHING`,
        { ids: list(ids) },
      );
    });
  }

  /** Ends what `begin` began: rows, and entries of lists, of which the service has no record are in doubt. */
  async end(): Promise<void> {
    await this.database.transaction(async () => {
      for (const { name, key } of await this.keys()) {
        await this.run(
          `INSERT INTO _doubts (resource, id, kind) SELECT DISTINCT :name, ${key}, 'extra' FROM ${name} AS t
          WHERE NOT EXISTS (SELECT 1 FROM _seen AS s WHERE s.id = t.${key}) ON CONFLICT DO NOTHING`,
        );
      }
    });
  }

  /** Some of the rows that the service has, by chance. */
  sample(size: number): Promise<readonly string[]> {
    return this.ids(
      `SELECT CAST(s.id AS TEXT) AS id FROM _seen AS s WHERE EXISTS (SELECT 1 FROM ${quoted(this.table.name)} AS t WHERE t.id = s.id)
      ORDER BY random() LIMIT ${size}`,
    );
  }

  /**
   * Holds what no change of the service explains, so that a sync neither mends nor hides it: rows that are not what their
   * raw record makes, and as many rows too few or too many as the copy has not counted itself. Everything else in doubt may
   * have changed since the last sync.
   */
  async hold(): Promise<void> {
    const { mirror } = this;
    const { isAmong, list } = this.database.dialect;
    await this.database.transaction(async () => {
      for await (const ids of this.batches("kind <> 'missing'"))
        await this.run(`UPDATE _doubts SET held = 1 WHERE resource = :name AND ${isAmong('id', ':ids')}`, {
          ids: list(await this.comparison.damaged(ids)),
        });
      const { rows: counted } = await mirror.resource(this.table);
      const surplus = (await this.rows()) - counted;
      const extra = await this.extraRows('held = 1');
      const unexplained = Math.max(0, surplus - extra);
      await this.holdSome('extra', 'DESC', unexplained);
      // Those that are new have the highest ids.
      await this.holdSome('missing', 'ASC', extra + unexplained - surplus);
      await this.run(
        `INSERT INTO _held (resource, id) SELECT resource, id FROM _doubts WHERE resource = :name AND held = 1
        ON CONFLICT DO NOTHING`,
      );
    });
  }

  /** How many rows the table has that are neither the service's nor a sync's, less those that it lacks. */
  async heldSurplus(): Promise<number> {
    return (await this.extraRows('held = 1')) - (await this.number("held = 1 AND kind = 'missing'"));
  }

  /** Compares what is in doubt with the records that came before; what a sync has brought is no longer in doubt. */
  async compareAgain(): Promise<void> {
    for await (const records of this.records()) await this.compare(records);
    await this.forgetGone();
  }

  /** Some ids in doubt above another one. */
  openIds(after: string): Promise<readonly string[]> {
    return this.ids(
      `SELECT CAST(d.id AS TEXT) AS id FROM _doubts AS d
      WHERE resource = :name AND d.id > CAST(:after AS BIGINT) ORDER BY d.id LIMIT ${BATCH}`,
      { after },
    );
  }

  /** Whether the service has none of these records, by what it said when asked for them: the others were compared. */
  async settleAbsent(ids: readonly string[], found: ReadonlySet<string>): Promise<void> {
    const { isAmong, list } = this.database.dialect;
    await this.run(
      `UPDATE _doubts SET kind = 'extra', record = NULL WHERE resource = :name AND ${isAmong('id', ':ids')}`,
      { ids: list(ids.filter((id) => !found.has(id))) },
    );
    await this.forgetGone();
  }

  /** How many are in doubt; `isHeld`: of those that a sync leaves alone, or of the others. */
  open(isHeld?: boolean): Promise<number> {
    return this.number(isHeld === undefined ? '1 = 1' : `held = ${Number(isHeld)}`);
  }

  /** How many differ in this way. */
  countOf(kind: Difference): Promise<number> {
    return this.number(`kind = '${kind}'`);
  }

  /** Rows, not mere entries of lists, of which the service has no record. */
  extraRows(where = '1 = 1'): Promise<number> {
    const isRow = `EXISTS (SELECT 1 FROM ${quoted(this.table.name)} AS t WHERE t.id = d.id)`;
    return this.number(`kind = 'extra' AND ${where} AND ${isRow}`);
  }

  /** Rows of deleted records. */
  tombstones(): Promise<number> {
    return this.count(quoted(`${this.table.name}_deleted`));
  }

  /** Rows of the table. */
  rows(): Promise<number> {
    return this.count(quoted(this.table.name));
  }

  /** Ids that differ in one way, at most `limit`. */
  idsOf(kind: Difference, limit: number): Promise<readonly string[]> {
    return this.ids(
      `SELECT CAST(d.id AS TEXT) AS id FROM _doubts AS d WHERE resource = :name AND kind = '${kind}' ORDER BY d.id LIMIT ${limit}`,
    );
  }

  /** The wire names of the fields in which a row that both sides have differs. */
  async fieldsOf(id: string): Promise<readonly string[]> {
    const [row] = await this.database.rows<{ record: string }>(
      'SELECT record FROM _doubts WHERE resource = :name AND id = CAST(:id AS BIGINT)',
      { name: this.name, id },
    );
    return this.comparison.fieldsOf(recordOf((row as { record: string }).record));
  }

  /** Makes the copy what the service says, wherever it differs: a transaction. Rows that the service has not are deleted. */
  async mend(at: string): Promise<void> {
    const { isAmong, list } = this.database.dialect;
    await this.database.transaction(async () => {
      const writer = await this.mirror.tables.writerOf(this.table, this.mirror.facts.history);
      for await (const records of this.records()) await writer.rewrite(records, at);
      for await (const ids of this.batches("kind = 'extra'")) {
        await writer.remove(ids.map((id) => ({ id, at })));
        for (const { name, key } of (await this.keys()).slice(1))
          await this.database.run(`DELETE FROM ${name} WHERE ${isAmong(key, ':ids')}`, { ids: list(ids) });
      }
    });
  }

  private async *records(): AsyncGenerator<MirrorRecord[]> {
    const { isAmong, list } = this.database.dialect;
    for await (const ids of this.batches('record IS NOT NULL')) {
      const rows = await this.database.rows<{ record: string }>(
        `SELECT record FROM _doubts WHERE resource = :name AND ${isAmong('id', ':ids')} ORDER BY id`,
        { name: this.name, ids: list(ids) },
      );
      yield rows.map(({ record }) => recordOf(record));
    }
  }

  /** Ids in doubt, some at a time; what is settled meanwhile is passed over. */
  private async *batches(where: string): AsyncGenerator<string[]> {
    for (let after = LEAST; ; ) {
      const ids = await this.ids(
        `SELECT CAST(d.id AS TEXT) AS id FROM _doubts AS d
        WHERE resource = :name AND d.id > CAST(:after AS BIGINT) AND ${where} ORDER BY d.id LIMIT ${BATCH}`,
        { after },
      );
      const last = ids.at(-1);
      if (last === undefined) return;
      yield ids;
      after = last;
    }
  }

  private async see(ids: readonly string[]): Promise<void> {
    await this.database.insert(
      '_seen',
      [ID],
      ids.map((id) => [idOf(id)]),
      { key: ['id'], keeps: true },
    );
  }

  private async holdSome(kind: Difference, order: 'ASC' | 'DESC', count: number): Promise<void> {
    await this.run(
      `UPDATE _doubts SET held = 1 WHERE resource = :name AND id IN (SELECT id FROM _doubts
        WHERE resource = :name AND kind = '${kind}' AND held = 0 ORDER BY id ${order} LIMIT ${Math.max(0, count)})`,
    );
  }

  /** Rows that were too many, and are gone. */
  private async forgetGone(): Promise<void> {
    const isHere = (await this.keys()).map(
      ({ name, key }) => `EXISTS (SELECT 1 FROM ${name} AS t WHERE t.${key} = _doubts.id)`,
    );
    await this.run(`DELETE FROM _doubts WHERE resource = :name AND kind = 'extra' AND NOT (${isHere.join(' OR ')})`);
  }

  /** The table and those of its lists, with their columns for the id of the record. */
  private async keys(): Promise<{ readonly name: string; readonly key: string }[]> {
    const { table } = await this.mirror.tables.rowsOf(this.table);
    return [
      { name: quoted(table.name), key: 'id' },
      ...table.children.map(({ name, parentKey }) => ({ name: quoted(name), key: quoted(parentKey) })),
    ];
  }

  private number(where: string): Promise<number> {
    return this.count(`_doubts AS d WHERE resource = '${this.name}' AND ${where}`);
  }

  private async count(from: string): Promise<number> {
    const [row] = await this.database.rows<{ number: number }>(`SELECT count(*) AS number FROM ${from}`);
    return row?.number ?? 0;
  }

  private async ids(query: string, more: Bound = {}): Promise<string[]> {
    const rows = await this.database.rows<{ id: string }>(query, { name: this.name, ...more });
    return rows.map(({ id }) => id);
  }

  private async run(text: string, more: Bound = {}): Promise<void> {
    await this.database.run(text, { name: this.name, ...more });
  }
}
