import type { Client } from 'pg';
import { Portal, type PortalRow } from '../../postgres/portal.ts';
import { untilAborted } from '../abort.ts';
import type { DatabasePlace } from '../mirror/place.ts';
import { connect } from '../mirror/postgres/connection.ts';
import { MIRROR_PARSERS } from '../mirror/postgres/database.ts';
import { QueryFault } from './fault.ts';
import { type MirroredTable, unfinishedTable } from './mirrortables.ts';
import type { Parameters } from './parameters.ts';
import { postgresFault } from './postgresfault.ts';
import { openReading } from './postgresopen.ts';
import { postgresValue } from './postgresvalue.ts';
import type { QueryResult } from './result.ts';
import type { Statement } from './sqlitequery.ts';
import { sqlTokens } from './sqltokens.ts';

/** Rows that are asked for before anything is written: what does not only read is refused by then. */
const FIRST_ROWS = 500;

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
  const { client, mirrored } = await untilAborted(openReading(place), signal);
  const sent = numbered(statement);
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

/** The statement, not run yet. Throws a QueryFault for one that is refused, and what the driver gives. */
async function open(
  client: Client,
  { partial }: Statement,
  { text, values }: Numbered,
  mirrored: readonly MirroredTable[],
): Promise<Portal> {
  const first = await Portal.open(client, text, values);
  const isQuery = first.fields !== undefined;
  await first.close();
  if (!isQuery) throw new QueryFault({ kind: 'refused', message: 'the statement does not only read' });
  const unfinished = partial ? undefined : unfinishedTable(await tablesRead(client, text, values), mirrored);
  if (unfinished !== undefined) throw new QueryFault(unfinished);
  return Portal.open(client, text, values);
}

/** Tables that a statement reads, also through views, by its plan; none where it has no plan. */
async function tablesRead(client: Client, text: string, values: readonly (string | null)[]): Promise<string[]> {
  await client.query('SAVEPOINT explaining');
  try {
    const portal = await Portal.open(client, `EXPLAIN (FORMAT JSON) ${text}`, values);
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
  /** The index in the statement as it was given of a character of this one. */
  readonly indexOf: (character: number) => number;
}

function numbered({ sql, parameters }: { readonly sql: string; readonly parameters: Parameters }): Numbered {
  const names: string[] = [];
  let text = '';
  /** By how much places after those in the new text were further on. */
  const shifts: { readonly from: number; readonly by: number }[] = [];
  let end = 0;
  for (const { kind, text: token, at } of sqlTokens(sql, 'postgres')) {
    if (kind !== 'parameter') continue;
    const name = token.slice(1);
    if (!names.includes(name)) names.push(name);
    text += `${sql.slice(end, at)}$${names.indexOf(name) + 1}`;
    end = at + token.length;
    shifts.push({ from: text.length, by: end - text.length });
  }
  text += sql.slice(end);
  const indexOf = (character: number) => {
    const index = [...text].slice(0, character).join('').length;
    return index + (shifts.findLast(({ from }) => from <= index)?.by ?? 0);
  };
  return { text, values: names.map((name) => String(parameters[name])), indexOf };
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
