import sql from 'sql-template-tag';
import { beforeEach, describe, expect, it } from 'vitest';
import { openTarget } from '../../../src/server/maintenance/copy/target.ts';
import { openDataLocation } from '../../../src/server/maintenance/datalocation.ts';
import { migrateSchema } from '../../../src/server/maintenance/migrateschema.ts';
import { isDatabaseServed } from '../../../src/server/maintenance/postgressnapshot.ts';
import { ownSchema } from '../../../src/server/maintenance/tables.ts';
import { turn } from '../../../src/server/maintenance/work.ts';
import type { Reader } from '../../../src/server/store/store.ts';
import { gateTo, onPostgres } from '../../support/postgres.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import { testService } from '../../support/service.ts';
import { copied, inDatabase, own, sharedPractice, WORK } from './practices.ts';

const practice = sharedPractice();

describe('a place of data', () => {
  let data: string;
  beforeEach(async () => {
    data = await copied(practice.base, practice.fresh());
  });

  it('knows whether a server runs on it, and keeps what is young there', async () => {
    const look = async () => {
      const { served, keepsYoung, name, close } = await openDataLocation({ data });
      await close();
      expect(name).toBe(data);
      return [served, keepsYoung];
    };
    expect(await look()).toEqual([false, false]);
    const service = await testService([], { data });
    expect(await look()).toEqual([true, true]);
    await service.close();
    expect(await look()).toEqual([false, false]);
  });

  it('is held against servers and writers until it is let go of, and by one at a time', async () => {
    const opened = await openDataLocation({ data });
    const release = await opened.hold();
    await expect(testService([], { data })).rejects.toThrow('Another server is running');
    await expect(opened.hold()).rejects.toThrow('Another server is running');
    const write = () =>
      inDatabase(data, (connection) => connection.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK'));
    expect(write).toThrow('database is locked');
    await release();
    write();
    const again = await opened.hold();
    await again();
    await (await testService([], { data })).close();
    write();
    await opened.close();
  });

  it('that could not be held is not locked', async () => {
    const opened = await openDataLocation({ data });
    const release = await inDatabaseHeld(data, () => opened.hold());
    expect(release).toMatchObject({ message: `${data} is being written to.` });
    await (await opened.hold())();
    await opened.close();
  });

  it('is seen as it is now, and a snapshot of it as it was', async () => {
    const opened = await openDataLocation({ data });
    const snapshot = await opened.snapshot();
    const tags = async (read: typeof opened.live) =>
      (await read.all(sql`SELECT name FROM document_tags WHERE name = 'Later'`)).length;
    inDatabase(data, (connection) =>
      connection.exec("INSERT INTO document_tags (org, fold, name) VALUES (1, 'later', 'Later')"),
    );
    expect([await tags(opened.live), await tags(snapshot.read)]).toEqual([1, 0]);
    await snapshot.close();
    await opened.close();
  });
});

describe('a database of data', () => {
  const LATER = "INSERT INTO document_tags (org, fold, name) VALUES (1, 'later', 'Later')";

  preparedTest('is seen as it is now, and a snapshot as it was, however long that is read', async (database) => {
    // As whoever keeps the database may have set them.
    const timeouts = ['statement_timeout', 'idle_in_transaction_session_timeout'];
    const limited = withOptions(own(database), timeouts.map((name) => `-c ${name}=60000`).join(' '));
    const opened = await openDataLocation({ data: practice.fresh(), database: limited });
    expect(await opened.live.get(sql`SELECT current_setting('statement_timeout') AS value`)).toEqual({ value: '1min' });
    const snapshot = await opened.snapshot();
    const tags = async (read: typeof opened.live) => (await read.all(sql`SELECT name FROM document_tags`)).length;
    expect([await tags(opened.live), await tags(snapshot.read)]).toEqual([0, 0]);
    await onPostgres((client) => client.query(LATER), database.url);
    expect([await tags(opened.live), await tags(snapshot.read)]).toEqual([1, 0]);
    const found = await Promise.all(
      ['transaction_read_only', ...timeouts].map((name) =>
        snapshot.read.get(sql`SELECT current_setting(${name}) AS value`),
      ),
    );
    expect(found).toEqual(['on', '0', '0'].map((value) => ({ value })));
    await snapshot.close();
    await opened.close();
  });

  preparedTest('is served where a server of the same address is in the same database', async (database) => {
    const url = own(database);
    const served = async () => {
      const opened = await openDataLocation({ data: practice.fresh(), database: url });
      await opened.close();
      return [opened.served, opened.keepsYoung];
    };
    const elsewhere = new URL(url);
    elsewhere.pathname = `/${database.schema}`;
    await onPostgres((client) => client.query(`CREATE DATABASE ${database.schema} TEMPLATE template0`));
    try {
      await onPostgres(async () => expect(await served()).toEqual([false, false]), elsewhere.href);
    } finally {
      await onPostgres((client) => client.query(`DROP DATABASE ${database.schema}`));
    }
    await onPostgres(async () => expect(await served()).toEqual([true, true]), url);
  });

  it('is not served any more by a server whose connections are just being closed', async () => {
    const counts = [2, 1, 0];
    const read = { get: async () => ({ found: counts.shift() }) } as unknown as Reader;
    expect(await isDatabaseServed(read, 'postgres://127.0.0.1/practice')).toBe(false);
    expect(counts).toEqual([]);
  });

  preparedTest('is held against whatever writes to it, and can be read', async (database) => {
    // However long it is held.
    const hasty = withOptions(own(database), '-c idle_in_transaction_session_timeout=1');
    const opened = await openDataLocation({ data: practice.fresh(), database: hasty });
    const release = await opened.hold();
    await onPostgres(async (client) => {
      const locked = async (table: string) =>
        client.query(`LOCK TABLE ${table} IN ROW EXCLUSIVE MODE NOWAIT`).then(
          () => false,
          () => true,
        );
      const held: string[] = [];
      const tables = (await ownSchema()).tables.map(({ name }) => name);
      for (const table of tables) {
        await client.query('BEGIN');
        if (await locked(table)) held.push(table);
        await client.query('ROLLBACK');
        await client.query(`SELECT 1 FROM ${table} LIMIT 1`);
      }
      // Records are not written without messages of the stream, nor anything without an entry of the audit log.
      expect(held).toEqual([
        ...['access_tokens', 'api_clients', 'audit_entries', 'log_heads', 'organizations', 'settings', 'stream_heads'],
      ]);
      await release();
      await client.query(LATER);
    }, database.url);
    await opened.close();
  });

  preparedTest(
    'is left without a connection, also where it could not be held, or its files not be opened',
    async (database) => {
      const place = { data: practice.fresh(), database: own(database) };
      const ofName = `SELECT FROM pg_stat_activity WHERE application_name LIKE '${database.schema}%'`;
      const connections = () => onPostgres(async (client) => (await client.query(ofName)).rowCount);
      await expect(openDataLocation({ ...place, files: 'ftp://files' })).rejects.toThrow('cannot be used for files');
      await expect.poll(connections).toBe(0);
      const opened = await openDataLocation(place);
      await onPostgres(async (client) => {
        await client.query('BEGIN; SELECT * FROM log_heads FOR UPDATE');
        await expect(opened.hold()).rejects.toThrow('is being written to.');
      }, database.url);
      await expect.poll(connections).toBe(1);
      await opened.close();
      await expect.poll(connections).toBe(0);
      await migrateSchema(place, WORK);
      await (await openTarget(place)).close();
      await expect.poll(connections).toBe(0);
    },
  );

  preparedTest(
    'is let go of when the database says so: whoever was interrupted can begin again at once',
    async (database) => {
      const gate = await gateTo(database.url);
      const opened = await openDataLocation({ data: practice.fresh(), database: own({ ...database, url: gate.url }) });
      const release = await opened.hold();
      gate.hush();
      let isReleased = false;
      const releasing = release().then(() => {
        isReleased = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(isReleased).toBe(false);
      await gate.shut();
      await releasing;
      await opened.close();
    },
  );
});

/** An address of a database with more options for its connections, whether or not it has some. */
function withOptions(url: string, more: string): string {
  const address = new URL(url);
  address.searchParams.set('options', `${more} ${address.searchParams.get('options') ?? ''}`.trim());
  return address.href.replaceAll('+', '%20');
}

/** What comes of something while somebody writes to the database of a folder. */
function inDatabaseHeld<T>(data: string, work: () => Promise<T>): Promise<unknown> {
  let attempt: Promise<unknown> | undefined;
  inDatabase(data, (connection) => {
    connection.exec('BEGIN IMMEDIATE');
    // It tries at once: the connection is closed behind that.
    attempt = work().catch((error: unknown) => error);
  });
  return attempt ?? Promise.resolve();
}

it('a long work tells where it is, lets others in, and ends when it is told to', async () => {
  const told: unknown[] = [];
  const stopping = new AbortController();
  const work = { progress: (...what: unknown[]) => void told.push(what), signal: stopping.signal, now: Date.now };
  let isLetIn = false;
  setImmediate(() => {
    isLetIn = true;
  });
  await turn(work, 'Copying', 3);
  expect([told, isLetIn]).toEqual([[['Copying', 3]], true]);
  setImmediate(() => stopping.abort(new Error('Stopped here.')));
  await expect(turn(work, 'Copying', 4)).rejects.toThrow('Stopped here.');
  expect(told).toHaveLength(2);
});
