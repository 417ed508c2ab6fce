import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPlace } from '../../../src/server/maintenance/check/check.ts';
import { testService } from '../../support/service.ts';
import { check, copied, filesIn, inDatabase, linesOf, makePractice, scratch, WORK } from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
let base: string;
let copies = 0;

beforeAll(async () => {
  place = await scratch();
  base = join(place.path, 'base');
  await makePractice(base);
});
afterAll(() => place.remove());

const copy = () => copied(base, join(place.path, `copy-${++copies}`));

describe('a check of files', () => {
  const originals = async (data: string) =>
    (await filesIn(join(data, 'files'))).filter((name) => name.endsWith('-original'));

  it('finds one that is missing, cut short, or changed', async () => {
    const data = await copy();
    const [first = '', second = '', third = ''] = await originals(data);
    await rm(first);
    await truncate(second, 3);
    await writeFile(third, 'x'.repeat((await stat(third)).size));
    const quick = linesOf(await check({ data }));
    expect(quick).toHaveLength(2);
    expect(quick.join()).toContain('its file original is missing');
    expect(quick.join()).toMatch(/its file original has 3 bytes, not \d+/);
    const deep = linesOf(await check({ data }, { deep: true }));
    expect(deep).toHaveLength(3);
    expect(deep.join()).toContain('its file original has another SHA-256');
  });

  it('finds a variant that is empty, missing, or cannot be read', async () => {
    const data = await copy();
    const thumbnails = (await filesIn(join(data, 'files'))).filter((name) => name.endsWith('-thumbnail'));
    expect(thumbnails).toHaveLength(1);
    const [thumbnail = ''] = thumbnails;
    const told = (what: string) => [
      expect.stringMatching(new RegExp(`^files documents \\d+: its file thumbnail ${what}$`)),
    ];
    await truncate(thumbnail, 0);
    expect(linesOf(await check({ data }))).toEqual(told('is empty'));
    await rm(thumbnail);
    expect(linesOf(await check({ data }))).toEqual(told('is missing'));
    // It is there, and nothing can be read from it.
    await mkdir(thumbnail);
    expect(linesOf(await check({ data }, { deep: true }))).toEqual(told('cannot be read'));
  });

  it('finds the files that are missing of each of many documents', async () => {
    const data = await copy();
    inDatabase(data, (connection) => {
      const row = connection.prepare('SELECT * FROM documents LIMIT 1').get() as Record<string, unknown>;
      const names = Object.keys(row);
      const insert = connection.prepare(`INSERT INTO documents (${names}) VALUES (${names.map((name) => `@${name}`)})`);
      for (let n = 1; n <= 40; n++) insert.run({ ...row, id: 10_000 + n, guid: `00${n}`, base_fold: `${n}` });
    });
    const lines = linesOf(await check({ data })).filter((line) => line.endsWith('its file original is missing'));
    const ids = Array.from({ length: 40 }, (_, n) => 10_001 + n);
    expect(lines.sort()).toEqual(ids.map((id) => `files documents ${id}: its file original is missing`));
  });

  it('finds files that no document has, and removals that were not done', async () => {
    const data = await copy();
    const [first = ''] = await originals(data);
    const orphan = first.replace(/[^/]+-original$/, (name) => name.replace('-original', '-other'));
    await writeFile(orphan, 'x');
    await utimes(orphan, 0, 0);
    inDatabase(data, (connection) => connection.exec("INSERT INTO file_removals (name) VALUES ('0123-original')"));
    const name = orphan.slice(orphan.lastIndexOf('/') + 1);
    expect(linesOf(await check({ data }))).toEqual([
      `files files ${name}: belongs to no document`,
      'files file_removals 0123-original: was to be removed',
    ]);
  });

  it('finds nothing wrong with a document that is deleted meanwhile', async () => {
    const data = await copy();
    const [first = ''] = await originals(data);
    const guid = basename(first).replace('-original', '');
    const progress = (what: string) => {
      if (what !== 'Checking audit entries') return;
      for (const file of readdirSync(dirname(first)))
        if (file.startsWith(`${guid}-`)) rmSync(join(dirname(first), file));
      inDatabase(data, (connection) => connection.prepare('DELETE FROM documents WHERE guid = ?').run(guid));
    };
    const report = await checkPlace({ data }, { ...WORK, progress, deep: false, repair: false });
    expect([linesOf(report), existsSync(first)]).toEqual([[], false]);
  });

  it('finds removals that a running server should have done, and those that a stopped one could not are none', async () => {
    const data = await copy();
    const note = (name: string, ms: number) =>
      `INSERT INTO file_removals (name, due_at) VALUES ('${name}', '${new Date(Date.now() + ms).toISOString()}')`;
    const service = await testService([], { data });
    for (const [name, hours] of [
      ['01-late', -4],
      ['02-soon', -1],
      ['03-kept', 4],
    ] as const) {
      inDatabase(data, (connection) => connection.exec(note(name, hours * 3_600_000)));
    }
    expect(linesOf(await check({ data }))).toEqual(['files file_removals 01-late: was to be removed']);
    await service.close();
    expect(linesOf(await check({ data }))).toEqual([]);
  });
});
