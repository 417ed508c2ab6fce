import { afterEach, describe, expect, vi } from 'vitest';
import { auditRow } from '../../../../src/server/audit/entries.ts';
import { verifyLog } from '../../../../src/server/audit/verify.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import type { Store } from '../../../../src/server/store/store.ts';
import { onPostgres, type TestDatabase } from '../../../support/postgres.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';
import { rawRows, tamper } from '../../../support/rawsql.ts';

/** The entry of a read of a patient. */
const entry = (org: number, patient: number) =>
  auditRow({
    ...{ org, at: '2026-03-02T12:00:00.000Z', operation: 'patients.get', ids: [patient], patients: [patient] },
    actor: { who: 'token x', address: null, requestId: `${org} ${patient}` },
  });

interface Stored {
  readonly id: number;
  readonly org: number;
  readonly ids: string;
  readonly hash: string;
}

const stored = (database: TestDatabase) =>
  onPostgres(async (client) => {
    const { rows } = await client.query<Record<keyof Stored, string>>('SELECT * FROM audit_entries ORDER BY id');
    return rows.map(({ id, org, ids, hash }): Stored => ({ id: Number(id), org: Number(org), ids, hash }));
  }, database.url);

async function withStore(database: TestDatabase, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openPostgresStore(database.url);
  await work(store).finally(() => store.close());
}

/** Keeps the end of the log locked, as a server does that stands still while it gives entries their places. */
async function whileLocked(database: TestDatabase, work: () => Promise<void>): Promise<void> {
  await onPostgres(async (client) => {
    await client.query("BEGIN; SELECT * FROM log_heads WHERE name = 'audit' FOR UPDATE");
    await work();
    await client.query('ROLLBACK');
  }, database.url);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('an entry', () => {
  preparedTest('is committed whoever holds the end of the log, and gets its place from another server', (database) =>
    withStore(database, async (other) => {
      const killed = await openPostgresStore(`${database.url}&application_name=killed`);
      await whileLocked(database, async () => {
        for (let patient = 1; patient <= 3; patient++) {
          await Promise.all([1, 2].map((org) => killed.appendLogs([entry(org, patient)])));
          await killed.write((tx) => tx.append(entry(3, patient)));
        }
        const waiting = await stored(database);
        expect(waiting).toHaveLength(9);
        expect(waiting.every(({ id, hash }) => id < 0 && hash === '')).toBe(true);
        // As a server that is gone: what it was about to do ends with its connections.
        await onPostgres((client) =>
          client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'killed'"),
        );
      });
      await other.sequenceEntries();
      const entries = await stored(database);
      expect(entries.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      for (const org of [1, 2, 3]) {
        expect(entries.filter((row) => row.org === org).map(({ ids }) => ids)).toEqual(['[1]', '[2]', '[3]']);
      }
      expect(await verifyLog(other.read)).toMatchObject({ entries: 9, first: 1, last: 9, problems: [] });
      const found = await rawRows({ path: '', database: database.url }, 'SELECT * FROM audit_patients ORDER BY entry');
      expect(found.map((row) => ('entry' in row ? row.entry : 0))).toEqual(entries.map(({ id }) => id));
      await killed.close();
    }),
  );

  preparedTest(
    'has its place soon after its commit, without anybody who asks for it, however many there are',
    (database) =>
      withStore(database, async (store) => {
        await store.appendLogs([entry(1, 1)]);
        await expect.poll(() => stored(database)).toMatchObject([{ id: 1 }]);
        // More than are given places at once.
        await store.appendLogs(Array.from({ length: 1234 }, (_, at) => entry(1, at + 2)));
        const placed = async () => (await stored(database)).filter(({ id }) => id > 0).length;
        await expect.poll(placed).toBe(1235);
      }),
  );

  preparedTest('that is committed long after later ones gets a place behind them', (database) =>
    withStore(database, async (store) => {
      const now = performance.now.bind(performance);
      let later = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => now() + later);
      for (let patient = 1; patient <= 4; patient++) {
        await store.appendLogs([entry(1, patient)]);
        await store.sequenceEntries();
        later += 10_001;
      }
      await store.sequenceEntries();
      // Its number was given first, so it stands where all have been seen.
      await tamper(
        { path: '', database: database.url },
        `INSERT INTO audit_entries (id, org, at, who, operation, ids, hash) VALUES (-1, 1, 'then', 'x', 'x', '[5]', '')`,
      );
      await store.sequenceEntries();
      expect((await stored(database))[0]).toMatchObject({ id: -1, ids: '[5]' });
      later += 10_001;
      await store.sequenceEntries();
      expect((await stored(database)).map(({ ids }) => ids)).toEqual(['[1]', '[2]', '[3]', '[4]', '[5]']);
      expect((await verifyLog(store.read)).problems).toEqual([]);
    }),
  );

  const far = '9223372036854775807';

  preparedTest('gets its place, and verification names what somebody put beside it to stop that', (database) =>
    withStore(database, async (store) => {
      const place = { path: '', database: database.url };
      const columns = 'at, who, operation, patients, hash';
      await tamper(
        place,
        ...['[1,', '[[1,9000000000000000]]'].map(
          (list) => `INSERT INTO audit_entries (${columns}) VALUES ('then', 'x', 'x', '${list}', '')`,
        ),
        `INSERT INTO audit_entries (id, ${columns}) VALUES (${far}, 'then', 'x', 'x', NULL, 'x')`,
        ...['org', 'record_count', 'status', 'covers_all'].map(
          (name) => `INSERT INTO audit_entries (${name}, ${columns}) VALUES (${far}, 'then', 'x', 'x', NULL, '')`,
        ),
      );
      await store.appendLogs([entry(1, 4)]);
      await store.sequenceEntries();
      const placed = (await stored(database)).filter(({ id }) => id > 0);
      expect(placed.slice(0, 3)).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3, ids: '[4]' }]);
      expect((await verifyLog(store.read)).problems).toMatchObject([
        { code: 'audit.above-head', id: Number.MAX_SAFE_INTEGER },
        { code: 'audit.altered', id: 1 },
        { code: 'audit.altered', id: 2 },
      ]);
    }),
  );

  preparedTest('of thousands gets its place, in the order in which they were written', (database) =>
    withStore(database, async (store) => {
      await store.appendLogs(Array.from({ length: 2345 }, (_, at) => entry(1, at + 1)));
      await store.sequenceEntries();
      const entries = await stored(database);
      expect(entries.map(({ id, ids }) => `${id} ${ids}`)).toEqual(
        Array.from({ length: 2345 }, (_, at) => `${at + 1} [${at + 1}]`),
      );
      expect((await verifyLog(store.read)).problems).toEqual([]);
    }),
  );
});
