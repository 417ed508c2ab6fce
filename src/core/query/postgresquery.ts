import type { Client } from 'pg';
import { Portal, type PortalRow } from '../../postgres/portal.ts';
import { sqlState } from '../../postgres/unusable.ts';
import { untilAborted } from '../abort.ts';
import type { DatabasePlace } from '../mirror/place.ts';
import { connect } from '../mirror/postgres/connection.ts';
import { MIRROR_PARSERS } from '../mirror/postgres/database.ts';
import { QueryFault } from './fault.ts';
import { type MirroredTable, unfinishedTable } from './mirrortables.ts';
import { postgresFault } from './postgresfault.ts';
import { openReading } from './postgresopen.ts';
import { postgresValue } from './postgresvalue.ts';
import type { QueryResult } from './result.ts';
import type { Statement } from './sqlitequery.ts';
import { sqlTokens } from './sqltokens.ts';

/** Rows that are asked for before anything is written: what does not only read is refused by then. */
const FIRST_ROWS = 500;

/** The number of the type of whole numbers (`pg_type`). */
const INT8 = 20;

/** What statements say that want another type: undefined_function, of operators too, and datatype_mismatch. */
const UNFIT = ['42883', '42804'];

/**
 * Opens a query of a mirror in PostgreSQL: in a transaction that only reads, and by the protocol that takes no second
 * statement and says what one returns before it runs (D52). Throws a QueryFault or a Failure, and the reason of the signal
 * when it aborts.
 */
export async function openPostgresQuery(
  place: DatabasePlace,
  statement: Statement,
  signal: AbortSignal,
): Promise<QueryResult> {
  const { client, mirrored } = await untilAborted(openReading(place, signal), signal);
  const ways = waysOf(statement);
  let [sent] = ways;
  const close = async () => {
    await client.end().catch(() => undefined);
  };
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await untilAborted(work, signal);
    } catch (cause) {
      if (signal.aborted) await cancel(place, client);
      const { sql } = statement;
      const fault = signal.aborted ? cause : await postgresFault(cause, { place, client, sql, indexOf: sent.indexOf });
      await close();
      throw fault;
    }
  };
  sent = await guarded(fitting(client, ways));
  const opened = await guarded(open(client, statement, sent, mirrored));
  let ahead = await guarded(opened.next(FIRST_ROWS));
  const values = (rows: readonly PortalRow[]) =>
    rows.map((row) => row.map((text, index) => postgresValue(text, opened.fields?.[index]?.dataTypeID ?? 0)));
  return {
    names: (opened.fields ?? []).map(({ name }) => name),
    next: async (most) => {
      if (ahead.length === 0) return values(await guarded(opened.next(most)));
      const taken = ahead.slice(0, most);
      ahead = ahead.slice(most);
      return values(taken);
    },
    close,
  };
}

/**
 * The first way whose types fit the statement, which does not run. Throws a QueryFault for one that is refused, and what
 * the driver gives for the first way where none fits.
 */
async function fitting(client: Client, ways: readonly Numbered[]): Promise<Numbered> {
  let fault: unknown;
  for (const way of ways) {
    await client.query('SAVEPOINT fitting');
    try {
      const portal = await Portal.open(client, way.text, way.values, way.types);
      const isQuery = portal.fields !== undefined;
      await portal.close();
      if (!isQuery) throw new QueryFault({ kind: 'refused', message: 'the statement does not only read' });
      return way;
    } catch (cause) {
      fault ??= cause;
      if (!UNFIT.includes(sqlState(fault) ?? '')) break;
      await client.query('ROLLBACK TO SAVEPOINT fitting');
    }
  }
  throw fault;
}

/** The statement, not run yet. Throws a QueryFault for one that reads what is not loaded, and what the driver gives. */
async function open(
  client: Client,
  { partial }: Statement,
  sent: Numbered,
  mirrored: readonly MirroredTable[],
): Promise<Portal> {
  const unfinished = partial ? undefined : unfinishedTable(await tablesRead(client, sent), mirrored);
  if (unfinished !== undefined) throw new QueryFault(unfinished);
  return Portal.open(client, sent.text, sent.values, sent.types);
}

/** Tables that a statement reads, also through views, by its plan; none where it has no plan. */
async function tablesRead(client: Client, { text, values, types }: Numbered): Promise<string[]> {
  await client.query('SAVEPOINT explaining');
  try {
    const portal = await Portal.open(client, `EXPLAIN (FORMAT JSON) ${text}`, values, types);
    const plan = (await portal.next(FIRST_ROWS)).map(([line]) => line ?? '').join('');
    await portal.close();
    return [...new Set(relationsOf(JSON.parse(plan)))];
  } catch {
    // What cannot be explained tells something, as SHOW does, or is an explanation itself.
    await client.query('ROLLBACK TO SAVEPOINT explaining');
    return [];
  }
}

function relationsOf(plan: unknown): string[] {
  if (typeof plan !== 'object' || plan === null) return [];
  const own = (plan as Record<string, unknown>)['Relation Name'];
  return [...(typeof own === 'string' ? [own] : []), ...Object.values(plan).flatMap(relationsOf)];
}

/** A statement with the parameters that the protocol has: by number. */
interface Numbered {
  readonly text: string;
  readonly values: readonly string[];
  /** Numbers of types (`pg_type`); 0 where the statement tells the type. */
  readonly types: readonly number[];
  /** The index in the statement as it was given of a character of this one. */
  readonly indexOf: (character: number) => number;
}

/**
 * Ways to send a statement, the best first: whole numbers as such (contract §6), then as the statement has them, for
 * columns of text, and at last in each place by itself, for columns of both kinds.
 */
function waysOf(statement: Statement): readonly [Numbered, ...Numbered[]] {
  const typed = numbered(statement, true);
  if (!typed.types.includes(INT8)) return [typed];
  return [typed, { ...typed, types: [] }, { ...numbered(statement, false), types: [] }];
}

/** Gives a number to each parameter, or to each of its places. */
function numbered({ sql, parameters }: Statement, isOnce: boolean): Numbered {
  const names: string[] = [];
  let text = '';
  /** By how much places after those in the new text were further on. */
  const shifts: { readonly from: number; readonly by: number }[] = [];
  let end = 0;
  for (const { kind, text: token, at } of sqlTokens(sql, 'postgres')) {
    if (kind !== 'parameter') continue;
    const name = token.slice(1);
    if (!isOnce || !names.includes(name)) names.push(name);
    text += `${sql.slice(end, at)}$${names.lastIndexOf(name) + 1}`;
    end = at + token.length;
    shifts.push({ from: text.length, by: end - text.length });
  }
  text += sql.slice(end);
  const indexOf = (character: number) => {
    const index = [...text].slice(0, character).join('').length;
    return index + (shifts.findLast(({ from }) => from <= index)?.by ?? 0);
  };
  const types = names.map((name) => (typeof parameters[name] === 'bigint' ? INT8 : 0));
  return { text, values: names.map((name) => String(parameters[name])), types, indexOf };
}

/** Ends what a connection does: by another one, since it takes nothing until then. */
async function cancel(place: DatabasePlace, client: Client): Promise<void> {
  const { processID } = client as Client & { readonly processID: number };
  try {
    const other = await connect(place, MIRROR_PARSERS);
    await other.client.query({ text: 'SELECT pg_cancel_backend($1)', values: [processID] });
    await other.client.end();
  } catch {
    // It ends as soon as the database notices that nobody is there any more.
  }
}
