import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { expect, it, vi } from 'vitest';
import type { Store, Transaction } from '../../../src/server/store/store.ts';
import { some } from '../../contract/probes.ts';
import { rowOf, type WireRecord } from '../../support/calls.ts';
import { dump } from '../../support/dump.ts';
import { PDF, PNG } from '../../support/files.ts';
import { OTHER_ORGANIZATION } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { cases } from '../../support/store.ts';
import { places, refused } from './importing.ts';
import { importInParts } from './staged/stores.ts';

/** Another one of the same size. */
const OTHER = Buffer.from('%PDF-1.4\nother test\n%%EOF\n').toString('base64');
const CROP = { fromX: 0, fromY: 0, width: 1, height: 1, ratio: 1 };
const paper = (content: string, more: WireRecord = {}) =>
  line('DocumentV1', { id: 9, name: 'a', mimeType: 'PDF', file: { content }, ...more });
const image = (crop: WireRecord = {}) =>
  line('DocumentV1', { id: 9, name: 'a', mimeType: 'PNG', file: { content: PNG, ...crop } });
const gone = line('DocumentV1', { id: 9, deleted: true });

/** The files of a data folder, by what each is of the document 9; those of others have their whole name. */
async function filesOf(service: TestService): Promise<string[]> {
  const { body, status } = await service.call('GET', '/documents/9');
  const own = status === 200 ? String((body.data as WireRecord).guidName) : 'none';
  const names = await readdir(join(service.path, 'files'), { recursive: true });
  return names
    .map((name) => name.split(/[\\/]/).at(-1) ?? '')
    .filter((name) => name.includes('-'))
    .map((name) => (name.startsWith(`${own}-`) ? name.slice(own.length + 1) : name))
    .sort();
}

const ALL = ['cropped', 'original', 'resized', 'thumbnail'];

const LINES: readonly (readonly [string, readonly WireRecord[], readonly string[]])[] = [
  ['of the last line, where two have other files', [paper(PDF), paper(OTHER)], ['original']],
  ['once, where two have the same', [paper(PDF), paper(PDF, { name: 'b' })], ['original']],
  ['with all that is made of an image', [image(CROP)], ALL],
  ['with what a later line asks to be made of it', [image(), image(CROP)], ALL],
  ['with what another line asks for again', [image(CROP), image(CROP)], ALL],
  ['without what only an earlier line asked for', [image(CROP), image()], ['original']],
  ['nowhere, where it was deleted', [image(CROP), gone], []],
];

it.each(some(LINES, cases(LINES.length, 3)))(
  'a document that is imported has its file %s, at once and in parts',
  async (_name, lines, files) => {
    const days = { fileRetentionDays: 0 };
    const atOnce = await testService([...bareRecords(), ...lines], days);
    const inParts = await testService(bareRecords(), days);
    for (const each of lines) await inParts.import([each]);
    for (const service of [atOnce, inParts]) {
      expect(await filesOf(service)).toEqual(files);
      await service.close();
    }
  },
);

it('a document that is imported under the name of another one is numbered, and its tags are those of its last line', async () => {
  const service = await testService([...bareRecords(), paper(PDF, { tags: ['Old', 'Kept'] })]);
  await service.import([paper(OTHER, { tags: ['kept', 'New'] }), paper(PDF, { id: 10 })]);
  const { guidName, ...found } = rowOf(await service.call('GET', '/documents/9'));
  expect(found).toMatchObject({ name: 'a.pdf', tags: ['kept', 'New'] });
  const file = join(service.path, 'files', String(guidName).slice(0, 2), `${guidName}-original`);
  expect((await readFile(file)).toString('base64')).toBe(OTHER);
  expect((await dump(service.service)).document_tags).toEqual([
    expect.stringContaining('kept'),
    expect.stringContaining('New'),
  ]);
  expect(rowOf(await service.call('GET', '/documents/10')).name).not.toBe('a.pdf');
  await service.close();
});

it('the files of a document that an import deletes are kept for as long as those of any other', async () => {
  const service = await testService([...bareRecords(), image(CROP)], { fileRetentionDays: 7 });
  await service.import([gone]);
  const due = await service.service.store.read.all(sql`SELECT due_at FROM file_removals`);
  expect(due).toEqual(ALL.map(() => ({ due_at: '2026-03-09T12:00:00.000Z' })));
  expect((await filesOf(service)).length).toBe(ALL.length);
  await service.close();
});

it.each([
  ['at once', []],
  ['in parts', bareRecords()],
])('every file is put where it lasts once, and none that is there already, %s', async (_name, first) => {
  const service = await testService(first);
  const persist = vi.spyOn(service.service.files, 'persist');
  const secured = async () => {
    await service.import([...(first.length > 0 ? [] : bareRecords()), image(CROP), paper(PDF, { id: 10 })]);
    return persist.mock.calls.splice(0).flatMap(([names]) => names.map((name) => name.split('-').at(-1)));
  };
  expect((await secured()).sort()).toEqual([...ALL, 'original'].sort());
  // Of an image what is made of it is made anew.
  expect((await secured()).sort()).toEqual(ALL);
  await service.close();
});

it('no transaction waits for the files of a document, which may go far', async () => {
  const service = await testService(bareRecords());
  const { files, store } = service.service;
  let isWriting = false;
  const persist = vi.spyOn(files, 'persist').mockImplementation(async (names) => {
    expect([names.length, isWriting]).toEqual(isWriting ? [0, true] : [1, false]);
  });
  const write: Store['write'] = (work, org) => {
    const working = async (tx: Transaction) => {
      isWriting = true;
      return work(tx).finally(() => {
        isWriting = false;
      });
    };
    return store.write(working, org);
  };
  await importInParts({ ...service.service, store: { ...store, write } }, [paper(PDF)]);
  expect(persist).toHaveBeenCalled();
  await service.close();
});

it('what was staged for a line that repeats another is removed, and the files of the others stay', async () => {
  const service = await testService([...bareRecords(), paper(PDF), paper(OTHER, { id: 10 }), paper(PDF)]);
  expect(await readdir(join(service.path, 'files', 'incoming'))).toEqual([]);
  expect(
    (await readdir(join(service.path, 'files'), { recursive: true })).filter((name) => name.endsWith('-original')),
  ).toHaveLength(2);
  await service.close();
});

it('a file is refused whose content is no base64', async () => {
  const service = await testService(bareRecords());
  const message = 'file.content is empty or not base64.';
  for (const content of ['!', 'JVBERi0', 'JVBERi0xLjQ', 'JVBERi0=='])
    expect(await refused(service, [paper(content)]), content).toEqual([{ line: 1, field: 'file.content', message }]);
  await service.close();
});

it('an image is not made of a document that may not be stored', async () => {
  const service = await testService(bareRecords());
  const wrong = { ...CROP, fromX: 10_000 };
  expect(await places(service, [image(wrong)])).toEqual(['1 file.width']);
  const other = { ...image(wrong), ownerOrganization: { id: OTHER_ORGANIZATION } };
  expect(await places(service, [other])).toEqual(['1 ownerOrganization.id']);
  await service.close();
});

it('an import in parts that has a document which may not be stored is refused before it is decided', async () => {
  const service = await testService(bareRecords());
  const importing = importInParts(service.service, [paper(PDF), paper('!', { id: 10 })]);
  await expect(importing).rejects.toMatchObject({ problems: [{ line: 2, field: 'file.content' }] });
  expect(await service.service.store.read.all(sql`SELECT name FROM imports`)).toEqual([]);
  expect(await filesOf(service)).toEqual([]);
  await service.close();
});

it('an import at once that is refused leaves no files', async () => {
  const service = await testService([]);
  const lines = [...bareRecords(), paper(PDF), image({ ...CROP, width: 0 }), line('Referral', { id: 0 })];
  const [refused, ...more] = await places(service, lines);
  expect([refused, more]).toEqual([`${lines.length - 1} file.width`, [`${lines.length} id`]]);
  expect(await filesOf(service)).toEqual([]);
  await service.close();
});
