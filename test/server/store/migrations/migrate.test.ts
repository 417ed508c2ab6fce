import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql, { raw } from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STORED_RESOURCES } from '../../../../src/catalog/catalog.ts';
import { openFolder } from '../../../../src/server/datafolder.ts';
import { layoutOf } from '../../../../src/server/store/layout.ts';
import { StoreUnusable } from '../../../../src/server/store/store.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-migrate-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function onFolder<T>(work: (opened: Awaited<ReturnType<typeof openFolder>>) => Promise<T>): Promise<T> {
  const opened = await openFolder(folder, { serving: true });
  return work(opened).finally(opened.close);
}

const versions = () =>
  onFolder(({ service }) =>
    service.store.read.all<{ version: number }>(sql`SELECT version, name, applied_at FROM schema_migrations`),
  );

describe('migrations', () => {
  it('are applied once', async () => {
    const first = await versions();
    expect(first.map((row) => row.version)).toEqual(first.map((_, index) => index + 1));
    expect(await versions()).toEqual(first);
  });

  it('refuse data that a newer molar wrote, and leave it as it is', async () => {
    const known = (await versions()).length;
    await onFolder(({ service }) =>
      service.store.write((tx) =>
        tx.run(sql`INSERT INTO schema_migrations (version, name, applied_at) VALUES (99, 'later', 'then')`),
      ),
    );
    const opening = openFolder(folder, { serving: true });
    await expect(opening).rejects.toBeInstanceOf(StoreUnusable);
    await expect(opening).rejects.toMatchObject({
      message: `The data was written by a newer molar (schema 99; this one knows ${known}).`,
      next: expect.stringContaining('Update molar'),
    });
    await expect(openFolder(folder, { serving: true })).rejects.toBeInstanceOf(StoreUnusable);
  });

  it.each(STORED_RESOURCES.map((resource) => [resource.name, resource] as const))(
    'make every column that %s needs',
    async (_name, resource) => {
      const { table, columns, sides } = layoutOf(resource);
      const columnsOf = (name: string) =>
        onFolder(({ service }) =>
          service.store.read.all<{ name: string }>(sql`SELECT name FROM pragma_table_info(${name})`),
        );
      const made = (await columnsOf(table)).map((column) => column.name);
      expect(made).toEqual(expect.arrayContaining(['org', 'id', 'json', ...columns.map((column) => column.name)]));
      for (const side of sides)
        expect((await columnsOf(side.table)).map((column) => column.name)).toEqual(['org', 'value', 'id']);
    },
  );

  it.each(['journal_mode', 'synchronous'])('are written with the safe setting of %s', async (name) => {
    const values = { journal_mode: 'wal', synchronous: 2 };
    const row = await onFolder(({ service }) =>
      service.store.write((tx) => tx.get<Record<string, unknown>>(sql`SELECT * FROM ${raw(`pragma_${name}`)}`)),
    );
    expect(Object.values(row ?? {})).toEqual([values[name as keyof typeof values]]);
  });
});
