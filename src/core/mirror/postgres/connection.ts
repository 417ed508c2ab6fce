import type { Client } from 'pg';
import { connectionOptions, loadDriver, type Parsers } from '../../../postgres/driver.ts';
import { isConnectionFault, PostgresUnusable, refusalOf, sqlState } from '../../../postgres/unusable.ts';
import { Failure, localFailure } from '../../failure.ts';
import type { DatabasePlace } from '../place.ts';

/**
 * Settings on which the text of values depends, and what tells soon that a computer is gone that held a mirror. A power cut
 * costs the last commits, never the tables: they are synced again.
 */
const SETTINGS = `
SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
SET standard_conforming_strings = on; SET client_min_messages = warning;
SET synchronous_commit = off; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3`;

/** Has the database notice a process that is gone while a statement runs; older versions and some systems cannot. */
const NOTICING = "SET client_connection_check_interval = '1s'";

/** A connection to the schema of a mirror. */
export interface MirrorConnection {
  readonly client: Client;
  /** Its name; undefined where there is none. */
  readonly schema: string | undefined;
}

/** Connects to a database; the schema of the mirror is the only one that names are looked for in. Throws a Failure. */
export async function connect(place: DatabasePlace, parsers: Parsers): Promise<MirrorConnection> {
  let client: Client | undefined;
  try {
    const driver = await loadDriver();
    client = new driver.Client(connectionOptions(driver, place.address, parsers));
    // What breaks meanwhile is told by the next statement.
    client.on('error', () => {});
    await client.connect();
    await client.query(SETTINGS);
    await client.query(NOTICING).catch(() => undefined);
    const { rows } = await client.query<{ schema: string | null }>(
      place.schema === undefined
        ? 'SELECT current_schema() AS schema'
        : { text: 'SELECT nspname AS schema FROM pg_namespace WHERE nspname = $1', values: [place.schema] },
    );
    const schema = rows[0]?.schema ?? undefined;
    if (schema !== undefined) await lookIn(client, schema);
    return { client, schema };
  } catch (cause) {
    await client?.end().catch(() => undefined);
    throw postgresFailure(cause, place.name);
  }
}

/** Has names looked for in one schema. */
export async function lookIn(client: Client, schema: string): Promise<void> {
  await client.query({ text: "SELECT set_config('search_path', quote_ident($1), false)", values: [schema] });
}

/**
 * What a driver throws, as a Failure: exit code 8 where the database cannot be reached, 9 for everything else. Nothing of it
 * repeats a password, or a value of a record.
 */
export function postgresFailure(cause: unknown, name: string): unknown {
  if (cause instanceof Failure || !(cause instanceof Error)) return cause;
  if (cause instanceof PostgresUnusable)
    return localFailure('mirror.unusable', cause.message, { hint: cause.next, cause });
  const refusal = refusalOf(cause);
  if (refusal !== undefined) {
    return localFailure('mirror.unreachable', `The database of ${name} ${refusal[0]}.`, { hint: refusal[1], cause });
  }
  const state = sqlState(cause);
  if (state === undefined && !isConnectionFault(cause)) return cause;
  // 08P01, protocol_violation, is said of statements, over a connection that goes on.
  if (state === undefined || /^(?:08(?!P01)|53300|57P)/.test(state)) {
    const why = /^Client (?:has|was)/.test(cause.message)
      ? 'the connection was lost'
      : ((cause as { code?: string }).code ?? cause.message);
    return localFailure('mirror.unreachable', `The database of ${name} cannot be reached: ${why}.`, { cause });
  }
  // Classes 22 (data) and 23 (constraints) repeat values; the others speak of statements, rights and resources.
  const what = /^2[23]/.test(state) ? 'it refused a value' : cause.message.replace(/\.$/, '');
  const hint = HINTS[state];
  return localFailure('mirror.unusable', `Cannot use the mirror ${name}: ${what} (${state}).`, {
    ...(hint !== undefined && { hint }),
    cause,
  });
}

const HINTS: Readonly<Record<string, string>> = {
  '42501': 'The user of the address needs the right to make tables in the schema, and to own those of the mirror.',
  '2BP01': 'Remove first what was made on top of the mirror, such as views of your own.',
  '25006': 'The database takes no changes: name its primary server, or look for default_transaction_read_only.',
  '57014':
    'The database gave up a statement: look for statement_timeout of the user and the database, then run it again.',
  '53100': 'Free some space on the disk of the database, then run it again.',
};
