import { type Connection, SqliteUnusable } from '../../sqlite/open.ts';
import { codeOf, Failure } from '../failure.ts';
import { type FaultFacts, QueryFault } from './fault.ts';
import { nameOf, type SqlToken, sqlTokens } from './sqltokens.ts';

/** A fault of the engine or its driver, as one of a query: what is wrong, where, and what may have been meant. */
export function sqliteFault(cause: unknown, sql: string, connection: Connection): QueryFault {
  if (cause instanceof QueryFault) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new QueryFault(factsOf(message, codeOf(cause), sql, connection), cause);
}

/** A fault while a file is opened. */
export function openingFault(cause: unknown, file: string): QueryFault {
  if (cause instanceof Failure) {
    return new QueryFault({ kind: 'mirror', message: cause.message.replace(/\.$/, ''), hint: cause.hint ?? '' }, cause);
  }
  if (cause instanceof SqliteUnusable) {
    return new QueryFault({ kind: 'file', message: cause.message.replace(/\.$/, ''), hint: cause.next }, cause);
  }
  const code = codeOf(cause) ?? '';
  if (code === 'SQLITE_NOTADB') return new QueryFault({ kind: 'mirror', message: `${file} is no mirror` }, cause);
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new QueryFault({ kind: 'file', message: `${file} cannot be read: ${reason}` }, cause);
}

/** Codes of SQLite for what a disk, a file or another process did. */
const FILE_CODES = /^SQLITE_(?:BUSY|CANTOPEN|CORRUPT|FULL|IOERR|LOCKED|NOTADB|PERM|PROTOCOL)/;

function factsOf(message: string, code: string | undefined, sql: string, connection: Connection): FaultFacts {
  if (code?.startsWith('SQLITE_READONLY')) return { kind: 'refused', message };
  if (code !== undefined && FILE_CODES.test(code)) return { kind: 'file', message };
  const tokens = sqlTokens(sql, 'sqlite');
  const [, table] = /^no such table: (?:main\.)?(.+)$/.exec(message) ?? [];
  if (table !== undefined) {
    const name = table.replace(/^.*\./, '');
    return { kind: 'table', message, name, ...placeOfName(tokens, name), known: tableNames(connection) };
  }
  const [, column] = /^no such column: "?([^"]+?)"?(?: - should this be .*)?$/.exec(message) ?? [];
  if (column !== undefined) {
    const name = column.replace(/^.*\./, '');
    const known = columnsOf(tokens, connection);
    return { kind: 'column', message, name, ...placeOfName(tokens, name), known };
  }
  const told = message.replace(/^near (".*"): syntax error$/s, 'syntax error near $1');
  return { kind: 'sql', message: told, ...placeOf(message, sql, tokens, connection) };
}

/** Where a name first stands. */
function placeOfName(tokens: readonly SqlToken[], name: string): Pick<FaultFacts, 'at'> {
  const at = tokens.find((token) => nameOf(token) === name)?.at;
  return at === undefined ? {} : { at };
}

function placeOf(
  message: string,
  sql: string,
  tokens: readonly SqlToken[],
  connection: Connection,
): Pick<FaultFacts, 'at'> {
  if (/^incomplete input/.test(message)) return { at: sql.trimEnd().length };
  const [, near] = /^near "([\s\S]*)": syntax error$/.exec(message) ?? [];
  if (near !== undefined) {
    // The engine names the token only: it is the first one at which the text up to there fails in the same way.
    const token = tokens.find(
      ({ text, at }) => text.startsWith(near) && messageOf(sql.slice(0, at + text.length), connection) === message,
    );
    return token === undefined ? {} : { at: token.at };
  }
  const [, unknown] = /^unrecognized token: "([\s\S]*)"$/.exec(message) ?? [];
  if (unknown !== undefined && sql.includes(unknown)) return { at: sql.lastIndexOf(unknown) };
  const [, named] = /^(?:no such function|ambiguous column name): (?:.*\.)?(\w+)$/.exec(message) ?? [];
  return named === undefined ? {} : placeOfName(tokens, named);
}

function messageOf(sql: string, connection: Connection): string {
  try {
    connection.prepare(sql);
    return '';
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

const TABLES =
  "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

function tableNames(connection: Connection): string[] {
  return connection.prepare(`${TABLES} ORDER BY name`).pluck().all() as string[];
}

/** Columns of the tables that a statement names; of all where it names none that there is. */
function columnsOf(tokens: readonly SqlToken[], connection: Connection): string[] {
  const all = tableNames(connection);
  const named = new Set(tokens.map((token) => nameOf(token)?.toLowerCase()));
  const used = all.filter((name) => named.has(name.toLowerCase()));
  const columns = connection.prepare('SELECT name FROM pragma_table_info(?)').pluck();
  return [...new Set((used.length > 0 ? used : all).flatMap((table) => columns.all(table) as string[]))];
}
