import sql, { raw } from 'sql-template-tag';
import { molarVersion } from '../../version.ts';
import type { Reader } from '../store.ts';

/** The database's own clock, UTC milliseconds, so that the clocks of the servers do not matter. */
export const DATABASE_NOW = raw('CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)');

/** Milliseconds after which a process that was not seen again is forgotten. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

/** A process that has a database of PostgreSQL open. */
export interface Server {
  /** A random name. */
  readonly id: string;
  /** Of the schema that it serves. */
  readonly fingerprint: string;
}

/** Notes that a process is there now, and forgets those that have long gone. */
export async function noteServer(read: Pick<Reader, 'get'>, { id, fingerprint }: Server): Promise<void> {
  await read.get(sql`INSERT INTO servers (id, molar, fingerprint, seen_at, is_running)
    VALUES (${id}, ${molarVersion()}, ${fingerprint}, ${DATABASE_NOW}, 1)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`);
  await read.get(sql`DELETE FROM servers WHERE seen_at < ${DATABASE_NOW} - CAST(${FORGOTTEN_MS} AS BIGINT)`);
}

/** Notes that a process ends in order. */
export async function noteEnd(read: Pick<Reader, 'get'>, { id }: Server): Promise<void> {
  await read.get(sql`UPDATE servers SET seen_at = ${DATABASE_NOW}, is_running = 0 WHERE id = ${id}`);
}

/** A process of another schema, as it was last seen. */
export interface OtherServer {
  readonly molar: string;
  /** Milliseconds ago. */
  readonly ago: number;
}

/**
 * The process of another schema than this one that was seen last, if that was within so many milliseconds; with `running`,
 * only of those that have not ended in order.
 */
export function lastOther(
  read: Reader,
  fingerprint: string,
  withinMs: number,
  running: boolean,
): Promise<OtherServer | undefined> {
  return read.get<OtherServer>(sql`SELECT molar, ${DATABASE_NOW} - seen_at AS ago FROM servers
    WHERE fingerprint <> ${fingerprint} AND seen_at > ${DATABASE_NOW} - CAST(${withinMs} AS BIGINT)
      AND is_running >= ${Number(running)}
    ORDER BY seen_at DESC LIMIT 1`);
}

/** Now, by the clock of the database; UTC milliseconds. */
export async function databaseNow(read: Reader): Promise<number> {
  const row = await read.get<{ now: number }>(sql`SELECT ${DATABASE_NOW} AS now`);
  return row?.now ?? 0;
}
