import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { molarIn } from './inprocess.ts';
import { connection, PATIENT } from './molar.ts';
import { servedPractice } from './servedpractice.ts';

const practice = servedPractice(3);

const run = (args: readonly string[], input = '') =>
  molarIn(practice.path, ['documents', ...args], connection(practice.served.url), input);

test('documents are tagged, downloaded and deleted in the same three lines, run again to no harm', async () => {
  const names = ['a.pdf', 'b.pdf', 'c.pdf'];
  for (const name of names) await writeFile(join(practice.path, name), `%PDF-1.7\n${name}\n`);
  // One after another, so that ids follow names.
  const line = ['--patient', String(PATIENT), '--tag', 'New', '--concurrency', '1', '--json'];
  const uploaded = await run(['upload', ...names, ...line]);
  expect(uploaded.code).toBe(0);
  const ids = (JSON.parse(uploaded.stdout) as { id: number }[]).map(({ id }) => id);
  const [first, second, third] = ids.map(String) as [string, string, string];

  for (const expected of ['', `Document ${first} has these tags already: there is nothing to send.\n`]) {
    const tagged = await run(['update', first, '--add-tag', 'Old', '--remove-tag', 'new', '--json']);
    expect([tagged.code, JSON.parse(tagged.stdout).tags, tagged.stderr]).toEqual([0, ['Old'], expected]);
  }

  const listed = await run(['list', '--tag', 'New', '--fields', 'id', '--csv']);
  for (const status of ['downloaded', 'skipped']) {
    const ran = await run(['download', '-', '--dir', 'in', '--csv', '--fields', 'file,status'], listed.stdout);
    expect([ran.code, ran.stdout]).toEqual([0, `file,status\nin/b.pdf,${status}\nin/c.pdf,${status}\n`]);
  }

  const asked = await run(['delete', '-'], listed.stdout);
  expect([asked.code, asked.stdout]).toEqual([2, '']);
  const deleted = await run(['delete', '-', '--yes', '--csv'], listed.stdout);
  expect([deleted.code, deleted.stdout, deleted.stderr]).toEqual([
    0,
    `id,status,error\n${second},deleted,\n${third},deleted,\n`,
    'Deleted 2 documents.\n',
  ]);
  const again = await run(['delete', first, second, '--yes', '--csv']);
  expect([again.code, again.stdout]).toEqual([
    6,
    `id,status,error\n${first},deleted,\n${second},missing,Not found (HTTP 404): There is no document ${second} in this organization.\n`,
  ]);
  expect((await run(['delete', first, second, '--yes'])).code).toBe(4);
  expect((await run(['delete', first, second, '--yes', '--ignore-missing'])).code).toBe(0);
  expect((await run(['list', '--json'])).stdout).toBe('[]\n');
});
