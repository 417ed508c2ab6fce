import sql from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { StoreUnusable } from '../../../../src/server/store/store.ts';
import { onPostgres, postgresTest } from '../../../support/postgres.ts';
import { TEST_POSTGRES } from '../../../support/services.ts';

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
