import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadDriver } from '../../../src/sqlite/open.ts';
import { molarIn } from '../inprocess.ts';
import { serve, workplace } from '../molar.ts';
import { writePractice } from './practice.ts';
import { Connections } from './request.ts';

let place: Awaited<ReturnType<typeof workplace>>;

beforeAll(async () => {
  place = await workplace();
  await writePractice(place.path);
  const served = await serve(place.path, ['--data', 'good', '--import', 'practice.ndjson', '--log-level', 'silent']);
  const body = { name: 'kept', mimeType: 'PDF', file: { content: 'AAAA' } };
  const answer = await new Connections(served.url).send({ method: 'POST', path: '/documents', body });
  expect(answer, answer?.text).toMatchObject({ status: 201 });
  await served.stop('SIGTERM');
});

afterAll(() => place.remove());

const PAGE = 4096;

/** Beginnings of every page but the first, as a disk that lost them would give them. */
function spoilPages(file: string): void {
  const bytes = readFileSync(file);
  for (let at = PAGE; at < bytes.length; at += PAGE) bytes.fill(0x5a, at, at + 100);
  writeFileSync(file, bytes);
}

function makeNewer(file: string): void {
  const database = new (loadDriver())(file);
  database.prepare("INSERT INTO schema_migrations (version, name, applied_at) VALUES (99, 'later', '')").run();
  database.close();
}

test.each<[string, (folder: string, database: string) => void, RegExp]>([
  [
    'a file that is no database',
    (_, file) => writeFileSync(file, 'no database '.repeat(999)),
    /damaged|cannot be read/,
  ],
  ['half a database', (_, file) => truncateSync(file, Math.floor(statSync(file).size / 2)), /damaged|malformed/],
  ['a database with spoilt pages', (_, file) => spoilPages(file), /damaged|malformed/],
  ['a database of a newer molar', (_, file) => makeNewer(file), /newer molar/],
  ['a folder in place of the database', (_, file) => rmSync(file) ?? mkdirSync(file), /cannot be opened/],
  ['files that are not there', (folder) => rmSync(join(folder, 'files'), { recursive: true }), /none of their files/],
  [
    'a file in place of the folder of files',
    (folder) => rmSync(join(folder, 'files'), { recursive: true }) ?? writeFileSync(join(folder, 'files'), ''),
    /cannot be used for files/,
  ],
])('%s: told with a next step, and left as it is', async (name, spoil, said) => {
  const folder = join(place.path, name.replaceAll(' ', '-'));
  const file = join(folder, 'molar.sqlite');
  cpSync(join(place.path, 'good'), folder, { recursive: true });
  spoil(folder, file);
  const before = hashOf(file);
  const [served, checked] = await Promise.all([
    molarIn(place.path, ['serve', '--port', '0', '--data', folder]),
    molarIn(place.path, ['server', 'check', '--data', folder]),
  ]);
  expect(served, served.stderr).toMatchObject({ code: 9, stdout: '', stderr: expect.stringMatching(said) });
  expect(served.stderr).toMatch(/^Next: /m);
  expect(checked, checked.stdout + checked.stderr).toMatchObject({ code: 9 });
  for (const { stderr } of [served, checked]) expect(stderr).not.toContain('defect');
  expect(hashOf(file)).toBe(before);
});

function hashOf(file: string): string {
  if (statSync(file).isDirectory()) return 'a folder';
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
