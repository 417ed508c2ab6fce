import type { Client } from 'pg';
import { describe, expect } from 'vitest';
import type { LockOwner } from '../../../src/core/lockfile.ts';
import { databasePlace } from '../../../src/core/mirror/place.ts';
import { POSTGRES_ENGINE } from '../../../src/core/mirror/postgres/engine.ts';
import { holderIn, takeLock } from '../../../src/core/mirror/postgres/lock.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';
import { runName } from '../../support/rundatabases.ts';

const STARTED = Date.parse('2026-11-22T05:00:00.250Z');
const SINCE = '2026-11-22T05:00:00Z';

/** A process of this or another computer; no other one is alive. */
const ownerOf = (pid: number, host: string, sleep: () => Promise<void> = async () => {}): LockOwner => ({
  ...{ pid, host, clock: { now: () => STARTED, sleep } },
  lifeOf: (other) => ({ alive: other === 1 }),
});

const take = (client: Client, schema: string, owner: LockOwner) =>
  takeLock(client, { schema, name: 'NAME', command: 'molar mirror sync', owner });

/** Works on two connections to one database. */
const onTwo = (url: string, work: (one: Client, two: Client) => Promise<void>) =>
  onPostgres((one) => onPostgres((two) => work(one, two), url), url);

const MINE = ownerOf(4, 'here');

describe('the lock of a mirror in PostgreSQL', () => {
  postgresTest('is found whatever number the name of its schema becomes', ({ url }) =>
    onTwo(url, async (one, two) => {
      const { rows } = await one.query(
        'SELECT min(name) AS name FROM unnest($1::text[]) AS name GROUP BY hashtext(name) < 0',
        [Array.from({ length: 64 }, () => runName())],
      );
      const names = rows.map(({ name }) => name as string);
      expect(names).toHaveLength(2);
      for (const name of names) {
        await take(one, name, ownerOf(1, 'here'));
        const holder = await holderIn(two, name, MINE);
        expect(holder).toEqual({ pid: 1, command: 'molar mirror sync', since: SINCE, host: 'here', isDead: false });
        await expect(take(two, name, MINE)).rejects.toMatchObject({
          exitCode: 9,
          message: `The mirror NAME is in use by molar mirror sync, process 1 since ${SINCE}.`,
        });
      }
    }),
  );

  postgresTest('is that of its schema, in its database', ({ url, schema }) =>
    onTwo(url, async (one, two) => {
      await take(one, schema, ownerOf(1, 'here'));
      expect(await holderIn(two, `${schema}_other`, MINE)).toBeUndefined();
      const database = runName();
      await two.query(`CREATE DATABASE ${database}`);
      const other = new URL(url);
      other.pathname = `/${database}`;
      await onPostgres(async (three) => {
        expect(await holderIn(three, schema, MINE)).toBeUndefined();
        await take(three, schema, MINE);
      }, other.href);
      await two.query(`DROP DATABASE ${database} WITH (FORCE)`);
    }),
  );

  postgresTest('of a process that is gone is waited for, until its connection is gone too', ({ url, schema }) =>
    onPostgres(
      (two) =>
        onPostgres(async (dead) => {
          await take(dead, schema, ownerOf(3, 'here'));
          expect(await holderIn(two, schema, MINE)).toMatchObject({ pid: 3, isDead: true });
          let slept = 0;
          const gone = ownerOf(4, 'here', async () => {
            if (++slept === 3) await dead.query('SELECT pg_advisory_unlock_all()');
          });
          await take(two, schema, gone);
          expect([slept, await holderIn(dead, schema, ownerOf(5, 'here'))]).toEqual([
            3,
            expect.objectContaining({ pid: 4 }),
          ]);
        }, url),
      url,
    ),
  );

  postgresTest(
    'is not waited for without end, nor where nobody can tell whether its process is gone',
    ({ url, schema }) =>
      onTwo(url, async (one, two) => {
        let slept = 0;
        const counting = ownerOf(4, 'here', async () => {
          slept++;
        });
        await take(one, schema, ownerOf(3, 'here'));
        await expect(take(two, schema, counting)).rejects.toMatchObject({ exitCode: 9 });
        expect(slept).toBe(100);
        slept = 0;
        // Process 3 of another computer may be alive.
        await take(one, `${schema}_other`, ownerOf(3, 'far'));
        await expect(take(two, `${schema}_other`, counting)).rejects.toMatchObject({
          message: `The mirror NAME is in use by molar mirror sync, process 3 on far since ${SINCE}.`,
        });
        await one.query("SET application_name = 'psql'");
        await expect(take(two, schema, counting)).rejects.toMatchObject({
          message: 'The mirror NAME is in use by another connection.',
        });
        expect(slept).toBe(0);
      }),
  );

  postgresTest('names the beginning of a host whose name is too long, which is this one', ({ url, schema }) =>
    onTwo(url, async (one, two) => {
      const long = `host-${'x'.repeat(60)}`;
      await take(one, schema, ownerOf(3, long));
      expect(await holderIn(two, schema, ownerOf(4, long))).toMatchObject({ pid: 3, isDead: true });
      expect(await holderIn(two, schema, ownerOf(4, 'other'))).toMatchObject({ pid: 3, isDead: false });
    }),
  );
});

describe('a connection to a mirror in PostgreSQL', () => {
  postgresTest('ends with its work, also where that is refused', async (database) => {
    const address = new URL(database.url);
    const name = runName();
    address.searchParams.set('application_name', name);
    const place = databasePlace(address.href, '--to', {});
    const read = () => POSTGRES_ENGINE.read(place, async () => 'read');
    await onPostgres(async (client) => {
      // A backend may outlive its connection for a moment.
      const left = async () => {
        const query = 'SELECT count(*)::int AS left FROM pg_stat_activity WHERE application_name = $1';
        return (await client.query(query, [name])).rows[0].left;
      };
      const allGone = () => expect.poll(left, { timeout: 30_000 }).toBe(0);
      expect(await read()).toBeUndefined();
      await allGone();
      // A name that PostgreSQL refuses, once there is a connection.
      const odd = databasePlace(`${address.href}&schema=a%00b`, '--to', {});
      await expect(POSTGRES_ENGINE.read(odd, async () => 'read')).rejects.toMatchObject({ exitCode: 9 });
      await allGone();
      const held = await onPostgres(async (holder) => {
        await take(holder, database.schema, ownerOf(1, 'here'));
        expect(await POSTGRES_ENGINE.holder(place, MINE)).toEqual({
          pid: 1,
          command: 'molar mirror sync',
          since: SINCE,
        });
        await expect(POSTGRES_ENGINE.hold(place, 'molar mirror reset', MINE)).rejects.toMatchObject({ exitCode: 9 });
        await allGone();
        await take(holder, database.schema, ownerOf(3, 'here'));
        // The process is gone: whoever asks is told of no lock.
        expect(await POSTGRES_ENGINE.holder(place, MINE)).toBeNull();
        await holder.query('SELECT pg_advisory_unlock_all()');
        return POSTGRES_ENGINE.hold(place, 'molar mirror reset', ownerOf(1, 'here'));
      }, database.url);
      expect(await POSTGRES_ENGINE.holder(place, MINE)).toMatchObject({ pid: 1, command: 'molar mirror reset' });
      await held.release();
      await expect.poll(() => POSTGRES_ENGINE.holder(place, MINE), { timeout: 30_000 }).toBeNull();
      await allGone();
    }, database.url);
  });
});
