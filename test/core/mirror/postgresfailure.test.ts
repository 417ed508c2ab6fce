import { expect } from 'vitest';
import { databasePlace } from '../../../src/core/mirror/place.ts';
import { connect, postgresFailure } from '../../../src/core/mirror/postgres/connection.ts';
import { PostgresDatabase } from '../../../src/core/mirror/postgres/database.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';

postgresTest(
  'what a database refuses is told with what to do, and a connection that is lost as such',
  async ({ url }) => {
    const { client, schema = '' } = await connect(databasePlace(url, '--to', {}), {});
    try {
      const database = new PostgresDatabase('NAME', client, schema);
      const faultOf = (sql: string): Promise<unknown> => database.script(sql).catch((cause: unknown) => cause);
      expect(await faultOf('BEGIN READ ONLY; CREATE TABLE one (id int)')).toMatchObject({
        exitCode: 9,
        message: expect.stringContaining('25006'),
        hint: expect.stringContaining('default_transaction_read_only'),
      });
      await client.query("ROLLBACK; SET statement_timeout = '1ms'");
      expect(await faultOf('SELECT pg_sleep(60)')).toMatchObject({
        exitCode: 9,
        message: expect.stringContaining('57014'),
        hint: expect.stringContaining('statement_timeout'),
      });
      await client.query('SET statement_timeout = 0');
      const unasked = client
        .query({ text: 'SELECT 1', values: ['more'] })
        .catch((cause) => postgresFailure(cause, 'NAME'));
      expect(await unasked).toMatchObject({ exitCode: 9, message: expect.stringContaining('08P01') });
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
      const ended = new Promise((resolve) => client.once('end', resolve));
      await onPostgres((other) => other.query('SELECT pg_terminate_backend($1)', [rows[0].pid]));
      await ended;
      expect(await faultOf('SELECT 1')).toMatchObject({
        exitCode: 8,
        message: 'The database of NAME cannot be reached: the connection was lost.',
      });
    } finally {
      await client.end().catch(() => undefined);
    }
  },
);
