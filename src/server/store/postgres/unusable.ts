import type { Pool, PoolClient } from 'pg';
import { PostgresUnusable, type Reason, refusalOf, sqlState } from '../../../postgres/unusable.ts';
import { StoreUnusable } from '../store.ts';
import { storeFault } from './faults.ts';

/** Prepared statements that are not where they were made, or are where they were not. */
const POOLED: Reason = [
  'is behind a pooler that gives each transaction another connection',
  'Add ?prepare=off to the address, or let the pooler keep a connection for each session.',
];

const BY_STATE: Readonly<Record<string, Reason>> = {
  '26000': POOLED,
  '42P05': POOLED,
  '08P01': ['refused a parameter of the address', 'Behind a pooler leave options out, and add ?prepare=off.'],
  '42501': ['does not let this user make tables', 'Run molar server migrate-schema as the owner of the schema.'],
};

/** How often two connections are asked in turn which process serves them. */
const TIMES_ASKED = 3;

/**
 * Refuses a pooler that gives each transaction another connection, where connections are to stay: of two that are open at
 * once either both are served by one process of the database, or one by several. Throws `StoreUnusable`.
 */
export async function refusePooler(pools: readonly Pool[], name: string): Promise<void> {
  const clients: PoolClient[] = [];
  try {
    for (const pool of pools) clients.push(await pool.connect());
    const servedBy = new Map<number, PoolClient>();
    const asked = Array.from({ length: TIMES_ASKED }, () => clients).flat();
    for (const client of asked) {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const pid = rows[0]?.pid ?? 0;
      // Databases that only speak the protocol of PostgreSQL may not have such numbers.
      if (pid <= 0) return;
      const isShared = (servedBy.get(pid) ?? client) !== client;
      servedBy.set(pid, client);
      if (isShared || servedBy.size > clients.length) {
        throw new StoreUnusable(`The database ${name} ${POOLED[0]}.`, POOLED[1]);
      }
    }
  } finally {
    for (const client of clients) client.release();
  }
}

const OTHERWISE: Reason = ['cannot be used', 'Check the address, the user and the password, and that it runs.'];

/** A fault of opening a database in words; nothing of it repeats the password. */
export function unusable(error: unknown, name: string): unknown {
  if (error instanceof StoreUnusable || error instanceof PostgresUnusable) return error;
  const known = BY_STATE[sqlState(error) ?? ''] ?? refusalOf(error);
  const [what, next] = known ?? OTHERWISE;
  const fault = storeFault(error);
  const why = known !== undefined || !(fault instanceof Error) ? '' : ` ${fault.message}`;
  return new StoreUnusable(`The database ${name} ${what}.${why}`, next, fault);
}
