import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FileHost } from './filehost.ts';
import { molarIn } from './inprocess.ts';
import { memoryTold, tellingMemory } from './memory.ts';
import { connection, exit, molar, start, workplace } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let host: FileHost;

beforeAll(async () => {
  place = await workplace();
  host = new FileHost();
  await host.listen();
});
afterAll(async () => {
  await host.close();
  await place.remove();
});
beforeEach(async () => {
  host.requests.length = 0;
  host.nameOf = (id) => `scan ${id}.pdf`;
  await rm(join(place.path, 'in'), { recursive: true, force: true });
});

const run = (...args: readonly string[]) =>
  molarIn(place.path, ['documents', 'download', ...args], connection(host.url));
const begin = (...args: readonly string[]) =>
  start(place.path, ['documents', 'download', ...args], connection(host.url));
const inside = async () => (await readdir(join(place.path, 'in'))).sort();

async function sha256(name: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(join(place.path, 'in', name))) hash.update(chunk);
  return hash.digest('hex');
}

/** Waits for something that a process is about to do; gives up with the process, or after five minutes at the earliest. */
async function until(child: ChildProcess, holds: () => Promise<boolean>): Promise<void> {
  for (let looked = 0; !(await holds().catch(() => false)); looked++) {
    if (child.exitCode !== null) throw new Error(`The command ended with ${child.exitCode} before that.`);
    if (looked > 30_000) throw new Error('The command does not get there.');
    await sleep(10);
  }
}

test('documents of a filter are there once, whatever their names, and no file is asked for with the token', async () => {
  Object.assign(host, { size: 10_000, documents: [1, 2, 3, 4, 5] });
  const names = ['', '../../scan.pdf', 'SCAN.pdf', 'scan.pdf', '/etc/passwd', 'scan.pdf.part'];
  host.nameOf = (id) => names[id] ?? '';
  const ran = await run('--all', '--dir', 'in', '--csv', '--fields', 'id,file,bytes,status');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout.split('\n')).toEqual([
    'id,file,bytes,status',
    '1,in/___.._scan.pdf,10000,downloaded',
    '2,in/SCAN.pdf,10000,downloaded',
    '3,in/scan [3].pdf,10000,downloaded',
    '4,in/_etc_passwd,10000,downloaded',
    '5,in/scan.pdf.part_,10000,downloaded',
    '',
  ]);
  expect(await sha256('scan [3].pdf')).toBe(host.sha256(3));
  expect((await readdir(place.path)).sort()).toEqual(['in']);
  expect(host.requests.some(({ hasToken }) => hasToken)).toBe(false);
  host.requests.length = 0;
  const again = await run('--all', '--dir', 'in', '--json');
  expect(JSON.parse(again.stdout)).toEqual(
    [1, 2, 3, 4, 5].map((id) => expect.objectContaining({ id, status: 'skipped', sha256: host.sha256(id) })),
  );
  expect(host.requests).toEqual([]);
});

test('a download that is killed goes on where it was', async () => {
  Object.assign(host, { size: 3_000_000, documents: [7], holdAfter: 2_000_000 });
  const child = begin('7', '--dir', 'in');
  const part = join(place.path, 'in', 'scan 7.pdf.part');
  await until(child, async () => (await stat(part)).size === 2_000_000);
  child.kill('SIGKILL');
  await exit(child);
  expect(await inside()).toEqual(
    ['.molar-downloads.lock', '.molar-downloads.ndjson', 'scan 7.pdf.part', 'scan 7.pdf.part.json'].sort(),
  );
  const ran = await run('7', '--dir', 'in', '--json');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    id: 7,
    bytes: 3_000_000,
    sha256: host.sha256(7),
    status: 'downloaded',
  });
  expect(host.requests.map(({ from }) => from)).toEqual([0, 2_000_000]);
  expect(await sha256('scan 7.pdf')).toBe(host.sha256(7));
  expect(await inside()).toEqual(['.molar-downloads.ndjson', 'scan 7.pdf']);
});

test('Ctrl-C keeps what came, for the next run', async () => {
  Object.assign(host, { size: 500_000, documents: [8], holdAfter: 300_000 });
  const child = begin('8', '--dir', 'in');
  await until(child, async () => (await stat(join(place.path, 'in', 'scan 8.pdf.part'))).size === 300_000);
  child.kill('SIGINT');
  expect(await exit(child)).toBe(130);
  expect(await inside()).toEqual(['scan 8.pdf.part', 'scan 8.pdf.part.json']);
  expect((await run('8', '--dir', 'in')).code).toBe(0);
  expect(host.requests.map(({ from }) => from)).toEqual([0, 300_000]);
});

test('however often it is killed, every document is there once in the end and nothing else', async () => {
  const documents = Array.from({ length: 60 }, (_, index) => index + 1);
  Object.assign(host, { size: 40_000, documents });
  for (const done of [1, 20, 21]) {
    const child = begin('--all', '--dir', 'in', '--quiet');
    const files = async () => (await inside()).filter((name) => name.endsWith('.pdf')).length;
    await until(child, async () => (await files()) >= done);
    child.kill('SIGKILL');
    await exit(child);
  }
  const ran = await run('--all', '--dir', 'in', '--csv', '--fields', 'id');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout).toBe(`id\n${documents.map((id) => `${id}\n`).join('')}`);
  expect(await inside()).toEqual(['.molar-downloads.ndjson', ...documents.map((id) => `scan ${id}.pdf`)].sort());
  for (const id of documents) expect(await sha256(`scan ${id}.pdf`)).toBe(host.sha256(id));
});

/** With what the program has besides, more than it may take. */
const LARGE = 90_000_000;

test('a large file does not pass through memory as a whole', async () => {
  Object.assign(host, { size: LARGE, documents: [9] });
  // Others look at what is in the folder besides.
  const own = await workplace();
  const env = { ...connection(host.url), ...(await tellingMemory(own.path)) };
  const { code, stderr } = await molar(place.path, ['documents', 'download', '9', '--dir', 'in', '--json'], env);
  expect(code).toBe(0);
  const most = memoryTold(stderr);
  await own.remove();
  expect((await stat(join(place.path, 'in', 'scan 9.pdf'))).size).toBe(LARGE);
  expect(most).toBeGreaterThan(20_000);
  expect(most).toBeLessThan(150_000);
});

test('one run at a time works in a folder', async () => {
  Object.assign(host, { size: 50_000, documents: [5], holdAfter: 10_000 });
  const child = begin('5', '--dir', 'in');
  await until(child, async () => (await stat(join(place.path, 'in', 'scan 5.pdf.part'))).size === 10_000);
  const second = await run('5', '--dir', 'in', '--json');
  expect([second.code, second.stdout]).toEqual([9, '']);
  expect(JSON.parse(second.stderr).error.message).toContain(`in is in use by process ${child.pid} since`);
  child.kill('SIGKILL');
  await exit(child);
});

test('what is there and is another is kept unless told otherwise', async () => {
  Object.assign(host, { size: 1000, documents: [5, 6] });
  await run('6', '--dir', 'in');
  await writeFile(join(place.path, 'in', 'scan 5.pdf'), 'mine');
  const kept = await run('5', '6', '--dir', 'in', '--json');
  expect(kept.code).toBe(6);
  expect(JSON.parse(kept.stdout)).toMatchObject([{ id: 6, status: 'skipped' }]);
  expect(JSON.parse(kept.stderr).error).toMatchObject({
    code: 'run.partial',
    errors: [{ source: '5', description: expect.stringMatching(/scan 5\.pdf exists already\.$/) }],
  });
  expect((await run('5', '6', '--dir', 'in', '--overwrite')).code).toBe(0);
  expect(await sha256('scan 5.pdf')).toBe(host.sha256(5));
});
