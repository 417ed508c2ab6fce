import { expect } from 'vitest';
import { databasePlace } from '../../../src/core/mirror/place.ts';
import { connect } from '../../../src/core/mirror/postgres/connection.ts';
import { MIRROR_PARSERS, PostgresDatabase } from '../../../src/core/mirror/postgres/database.ts';
import { recordOf } from '../../../src/core/mirror/records.ts';
import { SqlMirror } from '../../../src/core/mirror/sql/sqlmirror.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import { START } from '../../../src/core/pages/walkoptions.ts';
import { postgresTest } from '../../support/postgres.ts';
import { readPostgres } from './postgresoracle.ts';

postgresTest('a mirror in PostgreSQL has all of what is sent in more than one part', async ({ url }) => {
  const { client, schema = '' } = await connect(databasePlace(url, '--to', {}), MIRROR_PARSERS);
  try {
    const facts = { organization: 'o', url: 'u', history: false, columns: {}, timezone: null };
    const options = { zones: { locations: [], zone: 'UTC', isComputers: false }, instantOf: () => 0, now: () => 0 };
    const mirror = await SqlMirror.open(new PostgresDatabase('NAME', client, schema), facts, options);
    const all = Array.from({ length: 700 }, (_, index) => ({ id: index + 1, lastName: 'x'.repeat(300) }));
    await mirror.load(
      findTable('patients') as MirrorTable,
      all.map((each) => recordOf(JSON.stringify(each))),
      { ...START, since: '2026-01-01T00:00:00.000Z' },
    );
    const counted = 'SELECT count(*) AS rows, sum(id) AS ids, sum(length(last_name)) AS letters FROM patients';
    const [{ rows, ids, letters } = {}] = await readPostgres(url, counted);
    expect([rows, ids, letters].map(Number)).toEqual([700, (700 * 701) / 2, 210_000]);

    const table = findTable('patients') as MirrorTable;
    const listed = Array.from({ length: 11_999 }, (_, index) => String(index + 2));
    await mirror.stageIds(table, listed);
    expect(await mirror.unknownIds(table, 20_000)).toEqual(listed.slice(699));
    // One is missing, and none was told of: nothing is written, and the connection goes on.
    const publish = (missing: number) => {
      const published = { state: {}, found: 'ids', missing, border: 1 } as const;
      return mirror.publish({
        tables: new Map([[table, published]]),
        locations: undefined,
        at: '2026-01-01T00:00:00.000Z',
      });
    };
    await expect(publish(0)).rejects.toMatchObject({ exitCode: 8 });
    expect((await readPostgres(url, counted))[0]).toMatchObject({ rows });
    await publish(1);
    expect(await mirror.resource(table)).toMatchObject({ rows: 699, deletedRows: 1 });
  } finally {
    await client.end();
  }
});
