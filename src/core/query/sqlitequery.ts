import type { Connection } from '../../sqlite/open.ts';
import { QueryFault } from './fault.ts';
import { incomplete, type MirroredTable, unfinishedTable } from './mirrortables.ts';
import type { Parameters } from './parameters.ts';
import { type QueryValue, wholeNumber } from './result.ts';
import { sqliteFault } from './sqlitefault.ts';
import { mirroredTables } from './sqliteopen.ts';
import { pragmaQuery } from './sqlitepragma.ts';

/** A statement, and what it is read with. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Parameters;
  /** Reads tables whose first load is not finished, too. */
  readonly partial: boolean;
}

/** Milliseconds after which rows that have arrived wait for no others. */
const PATIENCE_MS = 50;

/**
 * A statement on a read-only connection to a mirror in SQLite. It is accepted for what the engine says of it, never for
 * its text (D52): a query has a plan, returns columns and writes nothing; an EXPLAIN has the columns of one and
 * does nothing; a PRAGMA is read through a table-valued function, which those with side effects do not have. Throws a
 * QueryFault.
 */
export class SqliteQuery {
  readonly names: readonly string[];
  private readonly rows: Iterator<readonly unknown[]>;

  constructor(
    private readonly connection: Connection,
    private readonly statement: Statement,
  ) {
    const { parameters, partial } = statement;
    const mirrored = this.guarded(() => mirroredTables(connection));
    const sql = this.guarded(() => accepted(connection, statement), mirrored);
    const unfinished = partial
      ? undefined
      : this.guarded(() => unfinishedTable(tablesRead(connection, sql, parameters), mirrored));
    if (unfinished !== undefined) throw new QueryFault(unfinished);
    const prepared = connection.prepare(sql).raw(true).safeIntegers(true);
    this.names = prepared.columns().map(({ name }) => name);
    this.rows = this.guarded(() => prepared.iterate(parameters)) as Iterator<readonly unknown[]>;
  }

  /** The next rows, `most` at most, fewer where they come slowly, and none at the end. Throws a QueryFault. */
  next(most: number): QueryValue[][] {
    return this.guarded(() => {
      const taken: QueryValue[][] = [];
      const end = performance.now() + PATIENCE_MS;
      while (taken.length < most && (taken.length === 0 || performance.now() < end)) {
        const { done, value } = this.rows.next();
        if (done === true) break;
        taken.push(value.map(queryValue));
      }
      return taken;
    });
  }

  /** Turns what the engine throws into a QueryFault; a table that is not there because it is not loaded says so. */
  private guarded<T>(work: () => T, mirrored: readonly MirroredTable[] = []): T {
    try {
      return work();
    } catch (cause) {
      const fault = sqliteFault(cause, this.statement.sql, this.connection);
      const { kind, name = '' } = fault.facts;
      const table = kind === 'table' ? mirrored.find(({ tableName }) => tableName === name) : undefined;
      throw table === undefined || table.complete ? fault : new QueryFault(incomplete(name, table), cause);
    }
  }
}

/** Columns of an EXPLAIN, and of an EXPLAIN QUERY PLAN. */
const EXPLAINING = ['addr,opcode,p1,p2,p3,p4,p5,comment', 'id,parent,notused,detail'];

/** The statement to read; throws what the engine says, or the refusal of one that does not only read. */
function accepted(connection: Connection, { sql, parameters }: Statement): string {
  const statement = connection.prepare(sql);
  const names = statement.reader ? statement.columns().map(({ name }) => name) : [];
  const steps = explained(connection, `EXPLAIN QUERY PLAN ${sql}`, parameters)?.length;
  if (steps !== undefined && steps > 0 && statement.reader && statement.readonly) return sql;
  // What cannot be explained is an explanation itself.
  if (steps === undefined && EXPLAINING.includes(names.join())) return sql;
  const query = steps === 0 ? pragmaQuery(connection, sql) : undefined;
  if (query === undefined) throw new QueryFault({ kind: 'refused', message: 'The statement does not only read' });
  return query;
}

/** A row for each step of a statement; undefined where the engine does not explain it. */
function explained(connection: Connection, sql: string, parameters: Parameters) {
  try {
    return connection.prepare(sql).all(parameters) as { opcode?: string; p2?: number }[];
  } catch {
    return undefined;
  }
}

/** Tables that a statement reads, also through views and indexes: those whose pages its program opens. */
function tablesRead(connection: Connection, sql: string, parameters: Parameters): string[] {
  const steps = explained(connection, `EXPLAIN ${sql}`, parameters) ?? [];
  const roots = new Set(steps.flatMap(({ opcode, p2 }) => (opcode === 'OpenRead' ? [p2] : [])));
  const pages = connection.prepare('SELECT tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0').all();
  const tables = (pages as { tbl_name: string; rootpage: number }[]).filter(({ rootpage }) => roots.has(rootpage));
  return [...new Set(tables.map(({ tbl_name }) => tbl_name))];
}

/** A value of SQLite as a value of a result. */
function queryValue(value: unknown): QueryValue {
  if (typeof value === 'bigint') return wholeNumber(value);
  return Buffer.isBuffer(value) ? value.toString('base64') : (value as QueryValue);
}
