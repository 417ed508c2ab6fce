import { expect, it } from 'vitest';
import MirrorTables from '../../../src/commands/mirror/tables.ts';
import { readFrom } from '../../../src/core/mirror/access.ts';
import { linkedIds } from '../../../src/core/mirror/sql/linkedids.ts';
import { openPlace } from './deidentified.ts';

it('a de-identified mirror has no names to show, and no ids that others know', async () => {
  const { folder, file, sync, run } = await openPlace();
  const plain = `${folder}/plain.db`;
  await sync();
  await sync([], {}, plain);
  const described = async (file: string) =>
    (await run('mirror:tables', MirrorTables, ['--to', file, '--format', 'datasette'])).json.databases;
  const labels = async (file: string) => JSON.stringify(await described(file)).includes('"label_column"');
  expect([await labels(plain), await labels(file)]).toEqual([true, false]);
  const ids = (name: string) => readFrom({ kind: 'file', name }, linkedIds);
  expect(await ids(file)).toBeUndefined();
  expect((await ids(plain))?.map(({ kind }) => kind)).toContain('location');
});
