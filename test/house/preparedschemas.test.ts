import { expect } from 'vitest';
import { openPostgresStore } from '../../src/server/store/postgres/store.ts';
import { onPostgres, postgresTest } from '../support/postgres.ts';
import { preparedDatabase } from '../support/preparedschemas.ts';
import { testService } from '../support/service.ts';

/** All rows of a schema, by table, and how far its sequences are; its epoch and its servers apart, which no other one has. */
function contentsOf(url: string): Promise<Record<string, unknown>> {
  return onPostgres(async (client) => {
    const contents: Record<string, unknown> = {};
    const own = 'table_schema = current_schema()';
    const { rows: tables } = await client.query(
      `SELECT table_name AS name FROM information_schema.tables WHERE ${own} AND table_name <> 'servers'`,
    );
    for (const { name } of tables) {
      const { rows } = await client.query(`SELECT t::text AS row FROM ${name} t ORDER BY 1`);
      contents[name] = rows
        .filter(({ row }) => !row.includes('_epoch,'))
        .map(({ row }) => row.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'when it was made'));
    }
    const { rows } = await client.query(
      'SELECT sequencename AS name, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1',
    );
    return { ...contents, sequences: rows };
  }, url);
}

postgresTest('a schema that a service is done with is as a new one, or is not used again', async (fresh) => {
  await (await openPostgresStore(fresh.url)).close();
  const service = await testService(undefined, { store: 'postgres' });
  const { database } = service;
  const tag = { tagText: 'Unheard of', isPredefined: false, tagType: 'PAYMENT_TAG' };
  expect((await service.call('POST', '/transactiontags', { body: tag })).status).toBe(201);
  await service.close();

  const again = await preparedDatabase();
  expect(again.url).toBe(database);
  expect(await contentsOf(again.url)).toEqual(await contentsOf(fresh.url));
  // Whatever was altered and put back may have done more than is seen.
  const alter = 'ALTER TABLE patients RENAME TO hidden; ALTER TABLE hidden RENAME TO patients';
  await onPostgres((client) => client.query(alter), again.url);
  await again.drop();
  await expect(again.drop()).rejects.toThrow('dropped before');

  const other = await preparedDatabase();
  expect(other.url).not.toBe(again.url);
  await other.drop();
});
