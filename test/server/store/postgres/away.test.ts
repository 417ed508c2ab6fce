import sql, { raw } from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { buildApp } from '../../../../src/server/http/app.ts';
import { StoreFault } from '../../../../src/server/store/faults.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { type Gate, gateTo, onPostgres, type TestDatabase } from '../../../support/postgres.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';
import { testService } from '../../../support/service.ts';

const TAG = { tagText: 'New', tagType: 'PAYMENT_TAG', isPredefined: false };

async function behindGate(database: TestDatabase, work: (gate: Gate) => Promise<void>): Promise<void> {
  const gate = await gateTo(database.url);
  await work(gate).finally(() => gate.shut());
}

describe('a database that is away', () => {
  preparedTest('is told as 503 with Retry-After, and comes back by itself', (database) =>
    behindGate(database, async (gate) => {
      const service = await testService(undefined, { database: gate.url });
      const list = () => service.call('GET', '/patients', { query: { lastId: 0 } });
      const create = () => service.call('POST', '/transactiontags', { body: TAG });
      const ready = async () => (await service.call('GET', '//readyz', { token: null, organization: null })).status;
      expect([(await list()).status, await ready()]).toEqual([200, 200]);
      await gate.shut();
      for (const answer of [await list(), await create()]) {
        expect(answer.status).toBe(503);
        expect(answer.headers['retry-after']).toBe('1');
        expect(answer.body.errors[0]?.code).toBe('server.unavailable');
      }
      expect(await ready()).toBe(503);
      await gate.open();
      expect(await ready()).toBe(200);
      expect([(await list()).status, (await create()).status]).toEqual([200, 201]);
      await service.close();
    }),
  );

  preparedTest('says nothing any more: /readyz is 503 within 2 s, for everybody who polls, until it does', (database) =>
    behindGate(database, async (gate) => {
      const service = await testService([], { database: gate.url, statementTimeoutMs: 60_000 });
      const ready = async () => {
        const began = performance.now();
        const { statusCode, headers, body } = await service.app.inject('/readyz');
        return { statusCode, retryAfter: headers['retry-after'], body, late: performance.now() - began > 2000 };
      };
      expect(await ready()).toMatchObject({ statusCode: 200, late: false });
      gate.hush();
      // On connections that are open, on new ones, and where others wait for the same.
      for (let turn = 0; turn < 3; turn++) {
        for (const answer of await Promise.all([ready(), ready(), ready()])) {
          expect(answer).toMatchObject({ statusCode: 503, retryAfter: '1', late: false });
          const body = { statusCode: 503, data: null, warnings: [], errors: [{ code: 'server.unavailable' }] };
          expect(JSON.parse(answer.body)).toMatchObject(body);
        }
      }
      await gate.shut();
      await gate.open();
      await expect.poll(async () => (await ready()).statusCode).toBe(200);
      await service.close();
    }),
  );

  preparedTest(
    'is another thing than one with much to do: /readyz does not wait for the works before it',
    async (database) => {
      const service = await testService([], { database: `${database.url}&readers=2&writers=1` });
      const { store } = service.service;
      const works = Array.from({ length: 6 }, () => store.read.get(sql`SELECT pg_sleep(3)`));
      works.push(store.write((tx) => tx.get(sql`SELECT pg_sleep(3)`)));
      const began = performance.now();
      expect((await service.app.inject('/readyz')).statusCode).toBe(200);
      expect(performance.now() - began).toBeLessThan(2000);
      await Promise.all(works);
      await service.close();
    },
  );

  preparedTest('ends a write that is under way, and nothing of it stays', (database) =>
    behindGate(database, async (gate) => {
      const store = await openPostgresStore(gate.url);
      const write = store.write(async (tx) => {
        await tx.run(sql`INSERT INTO settings (name, value) VALUES ('a', '')`);
        await gate.shut();
        await tx.run(sql`INSERT INTO settings (name, value) VALUES ('b', '')`);
      });
      await expect(write).rejects.toMatchObject({ code: 'STORE_AWAY' });
      await gate.open();
      expect(await store.read.all(sql`SELECT name FROM settings WHERE name NOT LIKE 'stream_%'`)).toEqual([]);
      await store.close();
    }),
  );

  preparedTest('that ends all sessions is asked again, on new ones', async (database) => {
    const url = `${database.url}&application_name=${database.schema}`;
    const store = await openPostgresStore(url);
    await Promise.all(Array.from({ length: 8 }, () => store.read.get(sql`SELECT 1 AS one`)));
    await onPostgres((client) =>
      client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
        database.schema,
      ]),
    );
    expect(await store.read.get(sql`SELECT 1 AS one`)).toEqual({ one: 1 });
    expect(await store.write((tx) => tx.run(sql`INSERT INTO settings (name, value) VALUES ('a', '')`))).toBe(1);
    await store.close();
  });
});

describe('a statement that takes too long', () => {
  const SLOW = sql`SELECT pg_sleep(20)`;

  preparedTest('is ended, for reading and for writing, and the store goes on', async (database) => {
    for (const switches of ['', '&prepare=off']) {
      const store = await openPostgresStore(database.url + switches, { timeoutMs: 1000 });
      await expect(store.read.get(SLOW)).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
      await expect(store.write((tx) => tx.get(SLOW))).rejects.toBeInstanceOf(StoreFault);
      expect(await store.read.get(sql`SELECT 1 AS one`)).toEqual({ one: 1 });
      await store.close();
    }
  });

  preparedTest('is answered with 408, also when it waits for another process', async (database) => {
    const service = await testService(undefined, {
      database: `${database.url}&application_name=molar`,
      statementTimeoutMs: 2000,
    });
    await onPostgres(async (client) => {
      await client.query('BEGIN; SELECT 1 FROM organizations FOR UPDATE');
      const answer = await service.call('POST', '/transactiontags', { body: TAG });
      expect([answer.status, answer.body.errors[0]?.code]).toEqual([408, 'request.timeout']);
      await client.query('ROLLBACK');
    }, database.url);
    expect((await service.call('POST', '/transactiontags', { body: TAG })).status).toBe(201);
    await service.close();
  });

  preparedTest('does not end a write that fills tables', async (database) => {
    const store = await openPostgresStore(database.url, { timeoutMs: 1000 });
    await store.write(async (tx) => {
      await tx.beginBulkLoad([]);
      await tx.get(sql`SELECT pg_sleep(1.5)`);
    });
    await store.close();
  });
});

describe('a fault of the database', () => {
  preparedTest('repeats no value of a record', async (database) => {
    const store = await openPostgresStore(database.url);
    const secret = 'Somebody';
    const faults = await Promise.all(
      [
        sql`SELECT CAST(${secret} AS BIGINT)`,
        sql`INSERT INTO patients (org, id, last_name, json) VALUES (1, 1, ${secret}, NULL)`,
        sql`SELECT ${raw('nowhere')} FROM patients WHERE last_name = ${secret}`,
      ].map((statement) => store.read.get(statement).catch((error: Error) => `${error.message} ${error.stack}`)),
    );
    expect(faults.join()).not.toContain(secret);
    expect(faults).toEqual([
      expect.stringContaining('22P02'),
      expect.stringContaining('23502'),
      expect.stringContaining('42703'),
    ]);
    await store.close();
  });

  preparedTest('unknown to us is a 500 that says nothing', async (database) => {
    const service = await testService([], { database: database.url });
    await service.service.store.write((tx) => tx.run(sql`DROP TABLE access_tokens`));
    const logged: unknown[] = [];
    const app = await buildApp(service.service, {
      log: { answered() {}, failed: (_id, error) => logged.push(error) },
      timeouts: { requestMs: 120_000 },
      behindProxy: false,
      rateLimit: 0,
    });
    const headers = { authorization: 'Bearer anything', 'organization-id': 'any' };
    const answer = await app.inject({ url: '/api/v1/patients', headers });
    expect([answer.statusCode, answer.body.includes('access_tokens')]).toEqual([500, false]);
    expect(logged).toHaveLength(1);
    await app.close();
    await service.close();
  });
});
