import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { readAddress } from '../../../../src/server/store/postgres/address.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { StoreUnusable } from '../../../../src/server/store/store.ts';
import { onPostgres, postgresTest } from '../../../support/postgres.ts';
import { TEST_POSTGRES } from '../../../support/services.ts';

describe('readAddress', () => {
  it.each([
    ['postgres://u:p@db.example:6432/molar', { name: 'db.example:6432/molar', readers: 8, writers: 4, sessions: true }],
    ['postgresql://db/x?readers=2&writers=1&prepare=off', { name: 'db/x', readers: 2, writers: 1, sessions: false }],
    ['postgres:///x?host=/var/run/postgresql', { name: '/var/run/postgresql/x', sessions: true }],
  ])('%s', (address, expected) => {
    expect(readAddress(address)).toMatchObject(expected);
  });

  it('keeps its own parameters from the driver, and all others for it', () => {
    const { url } = readAddress('postgres://u:p%40x@db/x?readers=2&sslmode=require&prepare=off&options=-c%20a%3Db');
    expect(url).toBe('postgres://u:p%40x@db/x?options=-c%20a%3Db&application_name=molar');
  });

  const verified = {};
  const unverified = { rejectUnauthorized: false };
  it.each([
    ['postgres://localhost/x', {}, false],
    ['postgres://[::1]/x', {}, false],
    ['postgres:///x', {}, false],
    ['postgres:///x?host=/var/run/postgresql', { PGSSLMODE: 'verify-full' }, false],
    ['postgres://db/x', {}, verified],
    ['postgres:///x', { PGHOST: 'db' }, verified],
    ['postgres://localhost/x?host=db', {}, verified],
    ['postgres://db/x', { PGSSLMODE: 'prefer' }, verified],
    ['postgres://db/x?sslmode=allow', {}, verified],
    ['postgres://db/x?sslmode=require', {}, unverified],
    ['postgres://db/x', { PGSSLMODE: 'require' }, unverified],
    ['postgres://db/x?sslmode=verify-full', { PGSSLMODE: 'disable' }, verified],
    ['postgres://db/x?sslmode=verify-full&sslrootcert=system', {}, verified],
    ['postgres://localhost/x?sslmode=verify-full', {}, verified],
    ['postgres://db/x?sslmode=disable', {}, false],
  ])('%s with %j is encrypted: %j', (address, env, tls) => {
    expect(readAddress(address, env).tls).toEqual(tls);
  });

  it.each([
    'postgres://u:geheim@db/x?sslmode=maybe',
    'postgres://u:geheim@db/x?sslmode=verify-ca',
    'postgres://u:geheim@db/x?ssl=0',
    'postgres://u:geheim@db/x?sslrootcert=/nowhere/at/all.pem',
  ])('refuses %s', (address) => {
    expect(() => readAddress(address, {})).toThrow(StoreUnusable);
  });

  it.each([
    'mysql://u:geheim@db/x',
    'postgres//u:geheim@db',
    'postgres://u:geheim@db/x?readers=0',
    'postgres://u:geheim@db/x?writers=1000',
    'postgres://u:geheim@db/x?prepare=maybe',
  ])('refuses %s without repeating its password', (address) => {
    expect(() => readAddress(address)).toThrow(StoreUnusable);
    expect(() => readAddress(address)).not.toThrow('geheim');
  });
});

const at = (change: (url: URL) => void) => {
  const url = new URL(TEST_POSTGRES);
  change(url);
  return url.href;
};

describe('a database that cannot be used', () => {
  postgresTest('is named, with what is wrong and what to do, and without its password', async (database) => {
    const role = `${database.schema}_role`;
    await onPostgres(async (client) => {
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'geheim'`);
      await client.query(
        `CREATE DATABASE ${database.schema} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
      );
    });
    const asRole = (url: string) => {
      const named = new URL(url);
      named.username = role;
      named.password = 'geheim';
      return named.href;
    };
    const cases: [string, RegExp][] = [
      [
        at((url) => {
          url.pathname = '/nowhere_at_all';
        }),
        /nowhere_at_all does not exist/,
      ],
      [
        at((url) => {
          url.port = '1';
        }),
        /cannot be used\..*ECONNREFUSED/,
      ],
      [
        at((url) => {
          url.pathname = `/${database.schema}`;
        }),
        /SQL_ASCII; molar needs UTF8/,
      ],
      [
        at((url) => {
          url.search = '?options=-c%20search_path%3Dnowhere';
        }),
        /no schema/,
      ],
      [asRole(database.url), /(does not let this user|no schema)/],
    ];
    try {
      for (const [url, reason] of cases) {
        const fault = await openPostgresStore(url).catch((error: unknown) => error);
        expect(fault).toBeInstanceOf(StoreUnusable);
        const { message, next, stack } = fault as StoreUnusable;
        expect(message).toMatch(reason);
        expect(next).not.toBe('');
        expect(`${message} ${next} ${stack}`).not.toContain('geheim');
      }
    } finally {
      await onPostgres(async (client) => {
        await client.query(`DROP DATABASE ${database.schema}`);
        await client.query(`DROP ROLE ${role}`);
      });
    }
  });

  postgresTest('is one that a newer molar wrote', async (database) => {
    const store = await openPostgresStore(database.url);
    await store.write((tx) =>
      tx.run(sql`INSERT INTO schema_migrations (version, name, applied_at) VALUES (99, 'later', 'then')`),
    );
    await store.close();
    await expect(openPostgresStore(database.url)).rejects.toMatchObject({
      message: expect.stringContaining('newer molar'),
    });
  });
});

describe('servers that start together', () => {
  postgresTest('make the schema once', async (database) => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => openPostgresStore(database.url)));
    const rows = await stores[0]?.read.all<{ version: number }>(
      sql`SELECT version FROM schema_migrations ORDER BY version`,
    );
    expect(rows?.map(({ version }) => version)).toEqual(rows?.map((_, index) => index + 1));
    await Promise.all(stores.map((store) => store.close()));
  });
});
