import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { it } from 'vitest';
import { runName } from './rundatabases.ts';
import { TEST_POSTGRES } from './services.ts';

/** A schema of its own in the database of the tests. */
export interface TestDatabase {
  /** `postgres://…`, with the schema as the only one that is looked at. */
  readonly url: string;
  readonly schema: string;
  drop(): Promise<void>;
}

const WITHOUT = 'needs PostgreSQL: start it on this machine, or give its address in MOLAR_TEST_POSTGRES';

/** A test with a schema of its own: without PostgreSQL it fails where all checks must run (CI=true), and is told as skipped elsewhere. */
export function postgresTest(
  name: string,
  run: (database: TestDatabase) => Promise<void>,
  make: () => Promise<TestDatabase> = testDatabase,
): void {
  it(name, async (context) => {
    if (!(await answers())) {
      if (process.env.CI === 'true') throw new Error(`This test ${WITHOUT}.`);
      return context.skip(WITHOUT);
    }
    const database = await make();
    try {
      await run(database);
    } finally {
      await database.drop();
    }
  });
}

let known: Promise<boolean> | undefined;

function answers(): Promise<boolean> {
  known ??= onPostgres(async () => true).catch(() => false);
  return known;
}

/** Works with a database on a connection of its own, which is closed after. */
export async function onPostgres<T>(work: (client: pg.Client) => Promise<T>, url = TEST_POSTGRES): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Makes a schema for one service. Nothing of it has to last, so commits do not wait for the disk. */
export async function testDatabase(): Promise<TestDatabase> {
  const schema = runName();
  await onPostgres((client) => client.query(`CREATE SCHEMA ${schema}`));
  const url = new URL(TEST_POSTGRES);
  url.search += `${url.search === '' ? '?' : '&'}options=${encodeURIComponent(`-c search_path=${schema} -c synchronous_commit=off`)}`;
  return {
    url: url.href,
    schema,
    drop: () =>
      onPostgres(async (client) => {
        await client.query(`SET client_min_messages = warning; DROP SCHEMA ${schema} CASCADE`);
      }),
  };
}

/** The way to a database, which can be shut: connections break, and new ones are refused until it is opened again. */
export interface Gate {
  readonly url: string;
  shut(): Promise<void>;
  open(): Promise<void>;
  /** From now on connections stay, and new ones are accepted, but nothing comes through; until it is shut. */
  hush(): void;
  /** The answer to the next commit is lost, with its connection. */
  loseCommit(): void;
}

export async function gateTo(address: string): Promise<Gate> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let hushed = false;
  let losesCommit = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    if (hushed) return;
    near.on('data', (bytes: Buffer) => {
      if (!losesCommit || !bytes.includes('COMMIT\0')) return;
      losesCommit = false;
      far.unpipe(near);
      far.once('data', () => near.destroy()).resume();
    });
    near.pipe(far).pipe(near);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = new URL(address);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    open: () => listen(port),
    hush: () => {
      hushed = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    loseCommit: () => {
      losesCommit = true;
    },
    shut: () =>
      new Promise<void>((resolve) => {
        hushed = false;
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
