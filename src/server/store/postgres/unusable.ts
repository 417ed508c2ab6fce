import type { Pool, PoolClient } from 'pg';
import { StoreUnusable } from '../store.ts';
import { sqlState, storeFault } from './faults.ts';

/** What is wrong with a database, after its name, and what whoever starts the server can do. */
type Reason = readonly [what: string, next: string];

/** Prepared statements that are not where they were made, or are where they were not. */
const POOLED: Reason = [
  'is behind a pooler that gives each transaction another connection',
  'Add ?prepare=off to the address, or let the pooler keep a connection for each session.',
];

const BY_STATE: Readonly<Record<string, Reason>> = {
  '3D000': ['does not exist', 'Make it with createdb, or name another in the address.'],
  '28P01': ['refused the password', 'Check the user and the password in the address.'],
  '28000': [
    'refused the user',
    'Check the user in the address, pg_hba.conf of the server, and whether it wants TLS (?sslmode=verify-full).',
  ],
  '26000': POOLED,
  '42P05': POOLED,
  '08P01': ['refused a parameter of the address', 'Behind a pooler leave options out, and add ?prepare=off.'],
  '42501': ['does not let this user make tables', 'Run molar server migrate-schema as the owner of the schema.'],
};

/** By codes of Node, and words of the driver where it has no code. */
const BY_FAULT: readonly (readonly [RegExp, Reason])[] = [
  [
    /does not support SSL/,
    ['does not speak TLS', 'Turn it on there (ssl = on), or add ?sslmode=disable where nobody else is on the network.'],
  ],
  [
    /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
    [
      'has a certificate that no known authority has signed',
      'Name the file of the authority, or of a self-signed certificate itself: ?sslrootcert=FILE, or PGSSLROOTCERT.',
    ],
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID/,
    ['has a certificate for another host', 'Use a host name that it names, or give the server one for this name.'],
  ],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)/, ['has a certificate that is not valid now', 'Renew it, or check the clock.']],
];

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
  if (error instanceof StoreUnusable) return error;
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  const known =
    BY_STATE[sqlState(error) ?? ''] ?? BY_FAULT.find(([pattern]) => pattern.test(code ?? message ?? ''))?.[1];
  const [what, next] = known ?? OTHERWISE;
  const fault = storeFault(error);
  const why = known !== undefined || !(fault instanceof Error) ? '' : ` ${fault.message}`;
  return new StoreUnusable(`The database ${name} ${what}.${why}`, next, fault);
}
