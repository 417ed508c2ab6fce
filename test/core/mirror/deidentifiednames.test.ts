import { expect, it } from 'vitest';
import MirrorTables from '../../../src/commands/mirror/tables.ts';
import { readFrom } from '../../../src/core/mirror/access.ts';
import { linkedIds } from '../../../src/core/mirror/sql/linkedids.ts';
import { openPlace } from './deidentified.ts';

it('a de-identified mirror has no names to show, and no ids that others know', async () => {
  const place = await openPlace();
  try {
    const plain = `${place.folder}/plain.db`;
    await place.sync();
    await place.sync([], {}, plain);
    const described = async (file: string) =>
      (await place.run('mirror:tables', MirrorTables, ['--to', file, '--format', 'datasette'])).json.databases;
    const labels = async (file: string) => JSON.stringify(await described(file)).includes('"label_column"');
    expect([await labels(plain), await labels(place.file)]).toEqual([true, false]);
    const ids = (name: string) => readFrom({ kind: 'file', name }, linkedIds);
    expect(await ids(place.file)).toBeUndefined();
    expect((await ids(plain))?.map(({ kind }) => kind)).toContain('location');
  } finally {
    await place.close();
  }
});
