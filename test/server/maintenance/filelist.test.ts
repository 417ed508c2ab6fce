import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FILE_LIST, readFileList } from '../../../src/server/maintenance/backup/manifest.ts';
import { leftOpenBelow } from '../../support/descriptors.ts';
import { scratch } from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
beforeAll(async () => {
  place = await scratch();
});
afterAll(() => place.remove());

const NAME = 'abcdef';
const LINE = `${'0'.repeat(64)}  files/ab/${NAME}\n`;

/** Reads a list as far as `work` goes, and tells what is still open then. */
async function openAfter(text: string, work: (names: AsyncIterable<{ readonly name: string }>) => Promise<unknown>) {
  await writeFile(join(place.path, FILE_LIST), text);
  const done = await work(readFileList(place.path)).catch((cause: unknown) => cause);
  return { done, open: leftOpenBelow(place.path) };
}

// Longer than what is read at once, so that its end is not reached by itself.
const LONG = LINE.repeat(10_000);

it('a list of files is closed when its reader has seen enough', async () => {
  const first = async (files: AsyncIterable<{ readonly name: string }>) => {
    for await (const { name } of files) return name;
  };
  expect(await openAfter(LONG, first)).toEqual({ done: NAME, open: [] });
});

it('a list of files is closed where a line cannot be read', async () => {
  const all = async (files: AsyncIterable<{ readonly name: string }>) => {
    for await (const { name } of files) expect(name).toBe(NAME);
  };
  const { done, open } = await openAfter(`${LINE}nonsense\n${LONG}`, all);
  expect(done).toMatchObject({ message: expect.stringMatching(/has a line that cannot be read\.$/) });
  expect(open).toEqual([]);
});
