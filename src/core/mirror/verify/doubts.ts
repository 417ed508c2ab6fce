import type { Connection } from '../../../sqlite/open.ts';
import { quoted } from '../names.ts';
import { type MirrorRecord, recordOf } from '../records.ts';
import { idOf } from '../sqlite/publishing.ts';
import type { SqliteMirror } from '../sqlite/sqlitemirror.ts';
import type { MirrorTable } from '../tables.ts';
import { TableComparison } from './comparison.ts';
import { Statements } from './statements.ts';

/** How a row differs: the table is without it, the service is without it, or they say something else. */
export type Difference = 'missing' | 'extra' | 'different';

const TABLES = `
CREATE TEMP TABLE IF NOT EXISTS _seen (id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS _doubts (
  resource TEXT NOT NULL, id INTEGER NOT NULL, kind TEXT NOT NULL, record TEXT, held INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (resource, id)
) WITHOUT ROWID;
`;

/** Rows that are looked at together. */
const BATCH = 500;

/** Records in which the copy and the service seem to differ, for each resource, until that is settled one way or the other. */
export class Doubts {
  private readonly comparison: TableComparison;
  private readonly name: string;
  private readonly connection: Connection;
  private readonly statements: Statements;

  constructor(
    private readonly mirror: SqliteMirror,
    private readonly table: MirrorTable,
  ) {
    this.connection = mirror.connection;
    this.statements = new Statements(mirror.connection);
    this.name = table.resource.name;
    this.connection.exec(TABLES);
    this.comparison = new TableComparison(mirror.connection, mirror.tables, table);
  }

  /** Begins to read everything the service has. */
  begin(): void {
    this.connection.exec('DELETE FROM temp._seen');
  }

  /** Compares records that the service has: those that differ are in doubt, the others no longer. */
  compare(records: readonly MirrorRecord[]): void {
    this.together(() => {
      const { missing, different } = this.comparison.compare(records);
      const kinds = new Map<string, Difference>();
      for (const id of missing) kinds.set(String(id), 'missing');
      for (const id of different) kinds.set(String(id), 'different');
      this.see(records.map(({ id }) => String(id)));
      const settle = this.statements.prepare('DELETE FROM temp._doubts WHERE resource = ? AND id = ?');
      const doubt = this.statements.prepare(
        `INSERT INTO temp._doubts (resource, id, kind, record) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET kind = excluded.kind, record = excluded.record`,
      );
      for (const { id, text } of records) {
        const kind = kinds.get(String(id));
        if (kind === undefined) settle.run(this.name, idOf(id));
        else doubt.run(this.name, idOf(id), kind, text);
      }
    });
  }

  /** Notes ids that the service has; those without a row are in doubt. */
  compareIds(ids: readonly string[]): void {
    this.together(() => {
      this.see(ids);
      const doubt = this.statements.prepare(
        `INSERT OR IGNORE INTO temp._doubts (resource, id, kind) SELECT :name, :id, 'missing'
        WHERE NOT EXISTS (SELECT 1 FROM ${quoted(this.table.name)} WHERE id = :id)`,
      );
      for (const id of ids) doubt.run({ name: this.name, id: idOf(id) });
    });
  }

  /** Ends what `begin` began: rows, and entries of lists, of which the service has no record are in doubt. */
  end(): void {
    this.together(() => {
      for (const { name, key } of this.keys()) {
        this.run(
          `INSERT OR IGNORE INTO temp._doubts (resource, id, kind) SELECT DISTINCT :name, ${key}, 'extra' FROM ${name} AS t
          WHERE NOT EXISTS (SELECT 1 FROM temp._seen AS s WHERE s.id = t.${key})`,
        );
      }
    });
  }

  /** Some of the rows that the service has, by chance. */
  sample(size: number): readonly string[] {
    return this.ids(
      `SELECT id FROM temp._seen AS s WHERE EXISTS (SELECT 1 FROM ${quoted(this.table.name)} AS t WHERE t.id = s.id)
      ORDER BY random() LIMIT ${size}`,
    );
  }

  /**
   * Holds what no change of the service explains, so that a sync neither mends nor hides it: rows that are not what their
   * raw record makes, and as many rows too few or too many as the copy has not counted itself. Everything else in doubt may
   * have changed since the last sync.
   */
  hold(): void {
    const { mirror, name } = this;
    this.together(() => {
      const mark = this.statements.prepare('UPDATE temp._doubts SET held = 1 WHERE resource = ? AND id = ?');
      for (const ids of this.batches("kind <> 'missing'"))
        for (const id of this.comparison.damaged(ids)) mark.run(name, id);
      const surplus = this.count(quoted(this.table.name)) - mirror.resource(this.table).rows;
      const extra = this.extraRows('held = 1');
      const unexplained = Math.max(0, surplus - extra);
      this.holdSome('extra', 'DESC', unexplained);
      // Those that are new have the highest ids.
      this.holdSome('missing', 'ASC', extra + unexplained - surplus);
      this.run(
        'INSERT OR IGNORE INTO temp._held (resource, id) SELECT resource, id FROM temp._doubts WHERE resource = :name AND held = 1',
      );
    });
  }

  /** How many rows the table has that are neither the service's nor a sync's, less those that it lacks. */
  heldSurplus(): number {
    return this.extraRows('held = 1') - this.number("held = 1 AND kind = 'missing'");
  }

  /** Compares what is in doubt with the records that came before; what a sync has brought is no longer in doubt. */
  compareAgain(): void {
    for (const records of this.records()) this.compare(records);
    this.together(() =>
      this.run(
        `DELETE FROM temp._doubts WHERE resource = :name AND kind = 'extra' AND NOT (${this.isHere('_doubts.id')})`,
      ),
    );
  }

  /** Some ids in doubt above another one. */
  openIds(after: bigint): readonly string[] {
    return this.ids(`SELECT id FROM temp._doubts WHERE resource = :name AND id > :after ORDER BY id LIMIT ${BATCH}`, {
      after,
    });
  }

  /** Whether the service has none of these records, by what it said when asked for them: the others were compared. */
  settleAbsent(ids: readonly string[], found: ReadonlySet<string>): void {
    this.together(() => {
      const extra = this.statements.prepare(
        "UPDATE temp._doubts SET kind = 'extra', record = NULL WHERE resource = ? AND id = ?",
      );
      for (const id of ids) if (!found.has(id)) extra.run(this.name, idOf(id));
      this.run(
        `DELETE FROM temp._doubts WHERE resource = :name AND kind = 'extra' AND NOT (${this.isHere('_doubts.id')})`,
      );
    });
  }

  /** How many are in doubt; `isHeld`: of those that a sync leaves alone, or of the others. */
  open(isHeld?: boolean): number {
    return this.number(isHeld === undefined ? '1' : `held = ${Number(isHeld)}`);
  }

  /** How many differ in this way. */
  countOf(kind: Difference): number {
    return this.number(`kind = '${kind}'`);
  }

  /** Rows, not mere entries of lists, of which the service has no record. */
  extraRows(where = '1'): number {
    const isRow = `EXISTS (SELECT 1 FROM ${quoted(this.table.name)} AS t WHERE t.id = d.id)`;
    return this.number(`kind = 'extra' AND ${where} AND ${isRow}`);
  }

  /** Rows of deleted records. */
  tombstones(): number {
    return this.count(quoted(`${this.table.name}_deleted`));
  }

  /** Rows of the table. */
  rows(): number {
    return this.count(quoted(this.table.name));
  }

  /** Ids that differ in one way, at most `limit`. */
  idsOf(kind: Difference, limit: number): readonly string[] {
    return this.ids(
      `SELECT id FROM temp._doubts WHERE resource = :name AND kind = '${kind}' ORDER BY id LIMIT ${limit}`,
    );
  }

  /** The wire names of the fields in which a row differs. */
  fieldsOf(id: string): readonly string[] {
    const record = this.statements
      .prepare<[string, bigint | number], string>('SELECT record FROM temp._doubts WHERE resource = ? AND id = ?')
      .pluck()
      .get(this.name, idOf(id));
    return record === undefined ? [] : this.comparison.fieldsOf(recordOf(record));
  }

  /** Makes the copy what the service says, wherever it differs: a transaction. Rows that the service has not are deleted. */
  mend(at: string): void {
    this.connection
      .transaction(() => {
        const writer = this.mirror.tables.writerOf(this.table, this.mirror.facts.history);
        for (const records of this.records()) for (const record of records) writer.rewrite(record, at);
        for (const ids of this.batches("kind = 'extra'")) {
          for (const id of ids) {
            writer.remove(id, at);
            for (const { name, key } of this.keys().slice(1))
              this.statements.prepare(`DELETE FROM ${name} WHERE ${key} = ?`).run(id);
          }
        }
      })
      .immediate();
  }

  private *records(): Generator<MirrorRecord[]> {
    const select = this.statements
      .prepare<[bigint], string>(`SELECT record FROM temp._doubts WHERE resource = '${this.name}' AND id = ?`)
      .pluck();
    for (const ids of this.batches('record IS NOT NULL')) yield ids.map((id) => recordOf(select.get(id) as string));
  }

  /** Ids in doubt, some at a time; what is settled meanwhile is passed over. */
  private *batches(where: string): Generator<bigint[]> {
    const select = this.statements
      .prepare<[string, bigint], bigint>(
        `SELECT id FROM temp._doubts WHERE resource = ? AND id > ? AND ${where} ORDER BY id LIMIT ${BATCH}`,
      )
      .pluck()
      .safeIntegers();
    for (let after = -(2n ** 63n); ; ) {
      const ids = select.all(this.name, after);
      const last = ids.at(-1);
      if (last === undefined) return;
      yield ids;
      after = last;
    }
  }

  private see(ids: readonly string[]): void {
    const insert = this.statements.prepare('INSERT OR IGNORE INTO temp._seen (id) VALUES (?)');
    for (const id of ids) insert.run(idOf(id));
  }

  private holdSome(kind: Difference, order: 'ASC' | 'DESC', count: number): void {
    this.run(
      `UPDATE temp._doubts SET held = 1 WHERE resource = :name AND id IN (SELECT id FROM temp._doubts
        WHERE resource = :name AND kind = '${kind}' AND held = 0 ORDER BY id ${order} LIMIT ${Math.max(0, count)})`,
    );
  }

  /** The table and those of its lists, with their columns for the id of the record. */
  private keys(): { readonly name: string; readonly key: string }[] {
    const { table } = this.mirror.tables.rowsOf(this.table);
    return [
      { name: quoted(table.name), key: 'id' },
      ...table.children.map(({ name, parentKey }) => ({ name: quoted(name), key: quoted(parentKey) })),
    ];
  }

  private isHere(id: string): string {
    return this.keys()
      .map(({ name, key }) => `EXISTS (SELECT 1 FROM ${name} AS t WHERE t.${key} = ${id})`)
      .join(' OR ');
  }

  private number(where: string): number {
    return this.count(`temp._doubts AS d WHERE resource = '${this.name}' AND ${where}`);
  }

  private count(from: string): number {
    return this.statements.prepare<[], number>(`SELECT count(*) FROM ${from}`).pluck().get() as number;
  }

  private ids(query: string, more: object = {}): string[] {
    const statement = this.statements.prepare<[object], bigint>(query).pluck().safeIntegers();
    return statement.all({ name: this.name, ...more }).map(String);
  }

  private run(text: string): void {
    this.statements.prepare(text).run({ name: this.name });
  }

  private together(work: () => void): void {
    this.connection.transaction(work)();
  }
}
