import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openPostgresSource } from '../../../src/server/maintenance/postgressnapshot.ts';
import { contentTables, ownSchema } from '../../../src/server/maintenance/tables.ts';
import { readSchema } from '../../../src/server/store/schema/introspection.ts';
import { leftOpenBelow } from '../../support/descriptors.ts';
import { preparedTest } from '../../support/preparedschemas.ts';

it('tells tables with their columns and keys, and the version, and leaves nothing behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-tables-'));
  vi.stubEnv(process.platform === 'win32' ? 'TEMP' : 'TMPDIR', folder);
  const { version, tables, indexes } = await ownSchema().finally(() => vi.unstubAllEnvs());
  expect(leftOpenBelow(folder)).toEqual([]);
  // Fails where it is not empty.
  await rmdir(folder);
  expect(version).toBeGreaterThan(0);
  expect(tables.find(({ name }) => name === 'documents_tags')).toEqual({
    name: 'documents_tags',
    columns: ['org', 'value', 'id'],
    key: ['org', 'value', 'id'],
    needed: [],
  });
  expect(tables.find(({ name }) => name === 'settings')).toEqual({
    name: 'settings',
    columns: ['name', 'value'],
    key: ['name'],
    needed: ['value'],
  });
  expect(indexes).toContain('documents_by_name');
});

it('every table has a key to be copied by, and all but what servers agree about is content', async () => {
  const schema = await ownSchema();
  expect(schema.tables.filter(({ key }) => key.length === 0)).toEqual([]);
  const content = new Set(contentTables(schema).map(({ name }) => name));
  expect(schema.tables.map(({ name }) => name).filter((name) => !content.has(name))).toEqual([
    'import_deferred',
    'import_lines',
    'import_links',
    'imports',
    'leases',
    'link_keys',
    'rate_buckets',
    'schema_backfills',
    'schema_migrations',
    'schema_repairs',
    'schema_state',
    'servers',
  ]);
});

it('what a resource or a key that is no more has left behind is no content', async () => {
  const schema = await ownSchema();
  const left = [
    { name: 'patients_species', columns: ['org', 'value', 'id'], key: ['org', 'value', 'id'], needed: [] },
    { name: 'pets', columns: ['org', 'id', 'name', 'json'], key: ['org', 'id'], needed: ['json'] },
  ];
  const foreign = { name: 'notes', columns: ['org', 'id', 'text'], key: ['org', 'id'], needed: [] };
  expect(contentTables({ ...schema, tables: [...schema.tables, ...left] })).toEqual(contentTables(schema));
  expect(contentTables({ ...schema, tables: [foreign] })).toEqual([foreign]);
});

preparedTest('both stores have the same tables, columns, keys and indexes', async ({ url }) => {
  const source = await openPostgresSource(url);
  const snapshot = await source.snapshot();
  const [there, own] = [await readSchema(snapshot.read, snapshot.dialect), await ownSchema()];
  await snapshot.close();
  await source.close();
  expect({ version: there.version, tables: there.tables }).toEqual({ version: own.version, tables: own.tables });
  expect(there.indexes).toEqual(expect.arrayContaining([...own.indexes]));
});
