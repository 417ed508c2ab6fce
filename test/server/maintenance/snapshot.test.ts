import sql from 'sql-template-tag';
import { expect, it } from 'vitest';
import { openPostgresSource } from '../../../src/server/maintenance/postgressnapshot.ts';
import { openSqliteSnapshot, type Snapshot } from '../../../src/server/maintenance/snapshot.ts';
import { type TestService, testService } from '../../support/service.ts';
import { testPostgres } from '../../support/services.ts';

/** A snapshot of the store of a service; closing it closes all that was opened. */
async function snapshotOf({ database, path }: TestService): Promise<Snapshot> {
  if (database === undefined) return openSqliteSnapshot(path);
  const source = await openPostgresSource(database);
  const snapshot = await source.snapshot();
  const close = async () => {
    await snapshot.close();
    await source.close();
  };
  return { ...snapshot, close };
}

const STORES = ['sqlite', 'postgres'] as const;

it.for(STORES)('a snapshot on %s is one state, whatever is written meanwhile', async (store, context) => {
  if (store === 'postgres' && (await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
  const service = await testService(undefined, { store });
  const snapshot = await snapshotOf(service);
  try {
    const seen = () => snapshot.read.all(sql`SELECT id FROM organizations ORDER BY id`);
    const before = await seen();
    await service.import([{ type: 'Organization', id: 'another', timezone: 'UTC' }]);
    expect(await seen()).toEqual(before);
  } finally {
    await snapshot.close();
    await service.close();
  }
});
