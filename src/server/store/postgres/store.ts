import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { readAddress } from '../../../postgres/address.ts';
import { loadDriver } from '../../../postgres/driver.ts';
import { FairShares } from '../../fairscheduling.ts';
import { StoreFault } from '../faults.ts';
import { requireFingerprint } from '../schema/faults.ts';
import { declaringText } from '../schema/repairs.ts';
import { SCHEMA } from '../schema/schema.ts';
import { FINGERPRINT_TEXT, servedText } from '../schema/state.ts';
import type { UpgradeOptions } from '../schema/upgradework.ts';
import type { Reader, Statement, Store } from '../store.ts';
import { isLost, storeFault } from './faults.ts';
import { NoticeListener } from './listener.ts';
import { makePool } from './pool.ts';
import { prepareSchema } from './schema.ts';
import { SchemaKeeper } from './schemakeeper.ts';
import { Sequencer } from './sequencer.ts';
import { SharedConnection } from './sharedconnection.ts';
import { claimDatabase } from './staging.ts';
import { connectionOf, patienceFor } from './statements.ts';
import { planByIndex } from './transaction.ts';
import { LaneWriter } from './writer.ts';

export interface PostgresOptions extends UpgradeOptions {
  /** Milliseconds that a statement may take; 0, for as long as it takes, when not given. */
  readonly timeoutMs?: number;
}

const CHANNEL = 'molar_stream';

/** Lookups that are sent and not replied to. */
const MAX_LOOKUPS = 64;

/** What a ping asks for: whether the database is a standby, its schema, and 1 where an earlier one may go on. */
interface Probed {
  readonly state: string;
  readonly fingerprint: string | null;
  readonly served: number | null;
}

/** Milliseconds that a ping waits for a connection, and for its answer. */
const PING_MS = 1500;

/** Opens the store of a PostgreSQL database, migrated to this version. Throws `StoreUnusable`. */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<Store> {
  const address = readAddress(url);
  const { sessions } = address;
  const { schema = SCHEMA } = options;
  const timeoutMs = options.timeoutMs ?? 0;
  const driver = await loadDriver();
  const reading = makePool(driver, address, address.readers, `SET statement_timeout = ${timeoutMs}`);
  const writing = makePool(driver, address, address.writers, '');
  // A connection that no work can keep, and that is given up soon: a server with much to do is not one without a database.
  const pinging = makePool(driver, address, 1, '', PING_MS);
  const looking = makePool(driver, address, 1, `SET statement_timeout = ${timeoutMs}`);
  const pools = [reading, writing, pinging, looking];
  const listeners = new Set<() => void>();
  const counts = new CountCache();
  const notify = () => {
    counts.drop();
    for (const listener of listeners) listener();
  };
  const run = sessions ? runIn(patienceFor(timeoutMs)) : pooledIn(timeoutMs);
  // An owner has half of them at most: the requests of others need one several times, and are to find it free.
  const connections = new FairShares(address.readers, address.readers / 2);
  const readFor = (owner: unknown) =>
    reader(reading, (pool, statement) => connections.run(owner, () => run(pool, statement)));
  const read = readFor('server');
  const shared = new SharedConnection(looking, patienceFor(timeoutMs));
  const lookups = new FairShares(MAX_LOOKUPS, MAX_LOOKUPS / 4);
  const lookupsFor = (owner: unknown) =>
    reader(looking, (_, statement) => lookups.run(owner, () => shared.read(statement)));
  const probe = reader(pinging, runIn(PING_MS, false));
  const server = { id: randomUUID(), fingerprint: schema.fingerprint };
  const { keeper, planning } = await prepareSchema([writing, reading], address, options, server)
    .then(async (work) => ({
      planning: await planByIndex(read),
      keeper: await SchemaKeeper.start(work, server, probe),
    }))
    .catch(async (error: unknown) => {
      await Promise.all(pools.map((pool) => pool.end()));
      throw error;
    });
  const notices = sessions ? new NoticeListener(driver, address, CHANNEL, notify) : undefined;
  const committed = () => {
    notify();
    notices?.tell();
  };
  const declaring = keeper.isUnfinished ? declaringText(schema) : undefined;
  const writer = new LaneWriter(writing, {
    sessions,
    timeoutMs,
    declaring,
    planning,
    committed,
    queued: () => sequencer.wake(),
  });
  const sequencer: Sequencer = new Sequencer(read, (work) => writer.sequence(work));
  const write: Store['write'] = (work, org) => writer.submit(work, org);
  const agreed = reader(writing, runIn(patienceFor(timeoutMs), sessions));
  return {
    read,
    readFor,
    lookupsFor: sessions ? lookupsFor : readFor,
    write,
    appendLogs: (rows) => writer.appendLogs(rows),
    sequenceEntries: () => sequencer.finish(),
    shared: agreed,
    claimImports: () => claimDatabase({ read: readFor('import'), write, shared: agreed }),
    countCache: () => counts.get(notices?.isListening === true),
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async tidy() {
      await writer.idle();
    },
    async ping() {
      const served = servedText(schema.fingerprint);
      const text = `SELECT current_setting('transaction_read_only') AS state, (${FINGERPRINT_TEXT}) AS fingerprint, (${served}) AS served`;
      const row = await probe.get<Probed>({ sql: text, text, values: [] });
      if (row?.state === 'on') throw new StoreFault('STORE_AWAY', 'The database does not accept writes.');
      if (row?.served !== 1) requireFingerprint(schema, row?.fingerprint ?? undefined);
    },
    connections() {
      const sum = (of: (pool: Pool) => number) => pools.reduce((total, pool) => total + of(pool), 0);
      return {
        open: sum((pool) => pool.totalCount),
        idle: sum((pool) => pool.idleCount),
        waiting: sum((pool) => pool.waitingCount),
      };
    },
    counts: writer.counts,
    async close() {
      await writer.idle();
      await sequencer.idle();
      await keeper.stop();
      await notices?.stop();
      await shared.close();
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/** Maximum time for trying idle connections, one after another. */
const BROKEN_IDLE_MS = 1000;

type Run = (pool: Pool, statement: Statement) => Promise<unknown[]>;

function reader(pool: Pool, run: Run): Reader {
  const rows = async (statement: Statement): Promise<unknown[]> => {
    const began = performance.now();
    for (let tries = 1; ; tries++) {
      const wasIdle = pool.idleCount > 0;
      try {
        return await run(pool, statement);
      } catch (error) {
        // A connection that broke while idle fails at its next use, and the others of the pool may be as broken.
        const again = tries === 1 || (wasIdle && performance.now() - began < BROKEN_IDLE_MS);
        if (!isLost(error) || !again) throw error;
      }
    }
  };
  return {
    all: async <T extends object>(statement: Statement) => (await rows(statement)) as T[],
    get: async <T extends object>(statement: Statement) => (await rows(statement))[0] as T | undefined,
  };
}

function runIn(patienceMs: number, prepared = true): Run {
  return async (pool, statement) => {
    const client = await pool.connect().catch((error: unknown) => {
      throw storeFault(error);
    });
    const connection = connectionOf(client, prepared);
    connection.patienceMs = patienceMs;
    let lost = false;
    try {
      return (await connection.run(statement)).rows;
    } catch (error) {
      lost = isLost(error);
      throw error;
    } finally {
      client.release(lost);
    }
  };
}

/** Behind a pooler settings last for one transaction only, so each statement gets one. */
function pooledIn(timeoutMs: number): Run {
  return async (pool, statement) => {
    const client = await pool.connect().catch((error: unknown) => {
      throw storeFault(error);
    });
    let broken = true;
    try {
      const connection = connectionOf(client, false);
      connection.patienceMs = patienceFor(timeoutMs);
      const begun = connection.command(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${timeoutMs}`);
      const [, result] = await Promise.all([begun, connection.run(statement)]);
      await connection.command('COMMIT');
      broken = false;
      return result.rows;
    } finally {
      client.release(broken);
    }
  };
}

/** Maximum age of cached counts: a connection that died silently reports no commits. */
const MAX_AGE_MS = 5000;

/**
 * Caches counts until anybody is known to have committed (`Store.countCache`). Commits of other processes are reported a
 * moment later: a count may be as old as that.
 */
export class CountCache {
  private counts = new Map<string, number>();
  private since = 0;

  /** The cached counts; none while commits of others are not reported. */
  get(isListening: boolean): Map<string, number> {
    if (!isListening || performance.now() - this.since > MAX_AGE_MS) this.drop();
    return this.counts;
  }

  /** Somebody committed. */
  drop(): void {
    this.counts = new Map();
    this.since = performance.now();
  }
}
