import type { Client } from 'pg';
import { sqlState } from '../../postgres/unusable.ts';
import { Failure } from '../failure.ts';
import type { DatabasePlace } from '../mirror/place.ts';
import { connect, postgresFailure } from '../mirror/postgres/connection.ts';
import { MIRROR_PARSERS } from '../mirror/postgres/database.ts';
import { type FaultFacts, type FaultKind, QueryFault } from './fault.ts';
import { nameOf, type SqlToken, sqlTokens } from './sqltokens.ts';

/** What a fault is about. */
interface Asked {
  readonly place: DatabasePlace;
  readonly client: Client;
  /** The statement as it was given. */
  readonly sql: string;
  /** Index in it of a place in the statement that was sent. */
  readonly indexOf?: (sent: number) => number;
}

/** By their SQLSTATE: what the engine refuses, does not know, or gives up. */
const KINDS: Readonly<Record<string, FaultKind>> = {
  '25006': 'refused', // read_only_sql_transaction
  '42P01': 'table', // undefined_table
  '42703': 'column', // undefined_column
  '57014': 'timeout', // query_canceled
};

/** Says 42P01 of an alias that FROM does not have; messages depend on the language of the database. */
const ALIAS_MISSING = 'errorMissingRTE';

/**
 * What the driver throws for a statement, as a QueryFault: what is wrong, where, and what may have been meant. A Failure where
 * the database itself is at fault.
 */
export async function postgresFault(cause: unknown, asked: Asked): Promise<unknown> {
  if (cause instanceof QueryFault || cause instanceof Failure) return cause;
  const state = sqlState(cause);
  if (state === undefined || /^(?:08|53|57P|58|XX)/.test(state)) return postgresFailure(cause, asked.place.name);
  const { message, position, routine } = cause as Error & { position?: string; routine?: string };
  const kind = routine === ALIAS_MISSING ? 'sql' : (KINDS[state] ?? 'sql');
  const tokens = sqlTokens(asked.sql, 'postgres');
  const at = position === undefined ? undefined : placeIn(Number(position), asked);
  const name = at === undefined || (kind !== 'table' && kind !== 'column') ? undefined : lastName(tokens, at);
  const known = name === undefined ? undefined : await knownNames(kind, tokens, asked.place).catch(() => []);
  const facts: FaultFacts = {
    ...{ kind, message },
    ...(at !== undefined && { at }),
    ...(name !== undefined && { name }),
    ...(known !== undefined && { known }),
  };
  return new QueryFault(facts, cause);
}

/** The database counts characters from 1, not halves of surrogate pairs. */
function placeIn(position: number, { sql, indexOf = (sent) => sent }: Asked): number {
  return Math.min(indexOf(position - 1), sql.length);
}

/** The last part of the name that begins somewhere: `column` of `table.column`. */
function lastName(tokens: readonly SqlToken[], at: number): string | undefined {
  let index = tokens.findIndex((token) => token.at === at);
  while (tokens[index + 1]?.text === '.' && tokens[index + 2] !== undefined) index += 2;
  const token = tokens[index];
  return token && nameOf(token);
}

/** Tables, or columns of the tables that a statement names; of all where it names none that there is. */
async function knownNames(kind: FaultKind, tokens: readonly SqlToken[], place: DatabasePlace): Promise<string[]> {
  // The transaction of the statement has failed: nothing else can be asked there.
  const { client } = await connect(place, MIRROR_PARSERS);
  try {
    const { rows } = await client.query<{ table: string; name: string }>(
      `SELECT c.relname AS table, a.attname AS name FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
      WHERE c.relnamespace = CAST(quote_ident(current_schema()) AS regnamespace) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, a.attnum`,
    );
    if (kind === 'table') return [...new Set(rows.map(({ table }) => table))];
    const named = new Set(tokens.map((token) => nameOf(token)?.toLowerCase()));
    const used = rows.filter(({ table }) => named.has(table));
    return [...new Set((used.length > 0 ? used : rows).map(({ name }) => name))];
  } finally {
    await client.end().catch(() => undefined);
  }
}
