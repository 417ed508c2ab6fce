import { type DatabaseTls, readDatabaseTls, TLS_PARAMETERS } from './tls.ts';
import { PostgresUnusable } from './unusable.ts';

/** Where a PostgreSQL database is, and how molar is to use it. */
export interface DatabaseAddress {
  /** What goes to the driver: without molar's own parameters. */
  readonly url: string;
  /** For messages: host, port and database, never the user's password. */
  readonly name: string;
  readonly tls: DatabaseTls;
  /** Connections for reading and for writing. */
  readonly readers: number;
  readonly writers: number;
  /**
   * Prepared statements, settings and notifications rely on connections that stay. Off for a pooler that gives
   * each transaction another connection, such as PgBouncer in transaction mode.
   */
  readonly sessions: boolean;
}

const NEXT =
  'Give postgres://USER:PASSWORD@HOST:PORT/DATABASE, with ?readers=8&writers=4 for other numbers of connections, ?prepare=off behind a pooler, and sslmode as for psql.';

/**
 * Reads `postgres://…`; `readers`, `writers` (1–100) and `prepare` (on, off) are molar's own. What it says nothing of is
 * read from the variables of psql: of TLS here, the rest by the driver. Throws `PostgresUnusable`.
 */
export function readAddress(
  address: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): DatabaseAddress {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    // The address itself is not repeated: it may hold a password.
    throw new PostgresUnusable('The address of the database cannot be read.', NEXT);
  }
  const own = url.searchParams;
  const readers = readCount(own.get('readers'), 'readers', 8);
  const writers = readCount(own.get('writers'), 'writers', 4);
  const prepare = own.get('prepare') ?? 'on';
  if (prepare !== 'on' && prepare !== 'off') throw new PostgresUnusable('prepare takes on or off.', NEXT);
  // The driver would turn TLS off or on by these, whatever sslmode says.
  if (own.has('ssl') || own.has('uselibpqcompat')) throw new PostgresUnusable('Use sslmode in place of ssl.', NEXT);
  const host = own.get('host') ?? (decodeURIComponent(url.hostname) || env.PGHOST || 'localhost');
  const tls = readDatabaseTls(own, host, env);
  for (const name of ['readers', 'writers', 'prepare', ...TLS_PARAMETERS]) own.delete(name);
  if (!own.has('application_name')) own.set('application_name', 'molar');
  // The driver reads %20, not a plus sign.
  url.search = own.toString().replaceAll('+', '%20');
  const name = `${own.get('host') ?? (url.host || 'the local socket')}${url.pathname}`;
  return { url: url.href, name, tls, readers, writers, sessions: prepare === 'on' };
}

function readCount(value: string | null, name: string, usual: number): number {
  if (value === null) return usual;
  const count = Number(value);
  if (/^\d{1,3}$/.test(value) && count >= 1 && count <= 100) return count;
  throw new PostgresUnusable(`${name} takes a number of connections from 1 to 100.`, NEXT);
}
