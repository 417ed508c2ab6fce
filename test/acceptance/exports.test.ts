import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { molarIn } from './inprocess.ts';
import {
  connection,
  exit,
  fixturePatients,
  PATIENT,
  type Served,
  serve,
  start,
  workplace,
  writeFixture,
} from './molar.ts';

const COUNT = 1234;
const FIELDS = ['--fields', 'id,lastName,patientStatus'];

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;
let env: Record<string, string>;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, COUNT);
  served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson']);
  env = { ...connection(served.url), MOLAR_CONFIG_DIR: join(place.path, 'config') };
});

afterAll(async () => {
  await served.stop();
  await place.remove();
});

const at = (...names: string[]) => join(place.path, ...names);
const run = (...args: string[]) => molarIn(place.path, args, env);
const beside = async (name: string) => (await readdir(place.path)).filter((each) => each.startsWith(name)).toSorted();

/** Kills a process at a moment when the files beside a name are those: between two of its writes. */
async function killBetweenWrites(child: ChildProcess, name: string, files: readonly string[]): Promise<void> {
  const ended = exit(child);
  for (let looked = 0; looked < 3000; looked++) {
    child.kill('SIGSTOP');
    if (isDeepStrictEqual(await beside(name), files)) break;
    child.kill('SIGCONT');
    await sleep(20);
  }
  child.kill('SIGKILL');
  await ended;
}

/** The CSV of all patients of the fixture, by hand. */
function expectedCsv(): string {
  const cell = (name: string) => (name.startsWith('=') ? `'${name}` : /,/.test(name) ? `"${name}"` : name);
  const rows = fixturePatients(COUNT).map(
    ({ id, lastName, patientStatus }) => `${id},${cell(lastName)},${patientStatus}`,
  );
  return `id,lastName,patientStatus\n${rows.join('\n')}\n`;
}

/** Passes requests on to the server until so many were; the next one waits for good. */
async function stalling(after: number): Promise<{ url: string; stalled: Promise<unknown>; server: Server }> {
  let passed = 0;
  const server = createServer(async (request, response) => {
    if (++passed > after) return void server.emit('stalled');
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(served.url + request.url, { headers });
    const body = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stalled: once(server, 'stalled'), server };
}

describe('list --out', () => {
  it('writes the whole file, its receipt, and one line about it', async () => {
    const { code, stdout, stderr } = await run('patients', 'list', ...FIELDS, '--out', 'whole.csv', '--receipt');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^Wrote 1,234 patients to whole\.csv \(3 pages, .*\)\.\n$/);
    expect(await readFile(at('whole.csv'), 'utf8')).toBe(expectedCsv());
    expect(JSON.parse(await readFile(at('whole.csv.receipt.json'), 'utf8'))).toMatchObject({
      ...{ complete: true, rows: COUNT, pages: 3, firstId: PATIENT, lastId: PATIENT + COUNT - 1 },
    });
    expect(await beside('whole')).toEqual(['whole.csv', 'whole.csv.receipt.json']);
  });

  it('is the same in parallel, with pages that do not come out even', async () => {
    await run('patients', 'list', ...FIELDS, '--out', 'parallel.csv', '--page-size', '71', '--parallel', '3');
    expect(await readFile(at('parallel.csv'), 'utf8')).toBe(expectedCsv());
  });

  it('after kill -9 has left FILE alone, and --resume gives the same bytes through whatever address is the same', async () => {
    await writeFile(at('killed.csv'), 'before\n');
    const { url, stalled, server } = await stalling(4);
    const line = ['patients', 'list', ...FIELDS, '--out', 'killed.csv', '--page-size', '100'];
    const child = start(place.path, line, { ...env, MOLAR_URL: url });
    await stalled;
    const left = ['killed.csv', 'killed.csv.part', 'killed.csv.part.json', 'killed.csv.part.lock'];
    await killBetweenWrites(child, 'killed', left);
    server.closeAllConnections();
    server.close();
    expect(await readFile(at('killed.csv'), 'utf8')).toBe('before\n');
    expect(await beside('killed')).toEqual(left);
    const elsewhere = await run(...line, '--resume');
    expect(elsewhere.code).toBe(2);
    expect(elsewhere.stderr).toContain(`the URL was ${url} and is now ${served.url}`);
    const journal = JSON.parse(await readFile(at('killed.csv.part.json'), 'utf8'));
    await writeFile(at('killed.csv.part.json'), JSON.stringify({ ...journal, url: served.url }));
    const ended = await run(...line, '--resume');
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Wrote 1,234 .*resumed 1 time/) });
    expect(await readFile(at('killed.csv'), 'utf8')).toBe(expectedCsv());
    expect(await beside('killed')).toEqual(['killed.csv']);
  });

  it('keeps the bookmark of --since-last when the reader has gone', async () => {
    const bookmarks = async () => (await run('export', 'bookmarks', 'list', '--json')).stdout;
    const before = await bookmarks();
    expect(before).not.toContain('"head"');
    const child = start(place.path, ['patients', 'list', '--since-last', 'head', '--csv', '--page-size', '20'], env);
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await exit(child)).toBe(0);
    expect(await bookmarks()).toBe(before);
  });
});

describe('export', () => {
  const line = ['export', 'patients', 'transactions', '--to', 'nightly', '--since-last', 'nightly', '--full-ids'];

  it('brings everything, then only what changed; bookmarks can be listed and reset', async () => {
    const first = await run(...line);
    expect(first).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^Exported 4 files to nightly: [^\n]+\.\n$/),
    });
    expect((await readdir(at('nightly'))).toSorted()).toEqual([
      ...[
        'patients.csv',
        'patients.csv.receipt.json',
        'patients.ids.csv',
        'patients.ids.csv.receipt.json',
        'summary.json',
      ],
      ...[
        'transactions.csv',
        'transactions.csv.receipt.json',
        'transactions.ids.csv',
        'transactions.ids.csv.receipt.json',
      ],
    ]);
    const summary = JSON.parse(await readFile(at('nightly', 'summary.json'), 'utf8'));
    expect(summary).toMatchObject({
      complete: true,
      exitCode: 0,
      reason: 'complete',
      totals: { files: 4, rows: 2 * COUNT },
    });

    await run('patients', 'update', String(PATIENT + 5), '--city', 'Newtown');
    const whole = await readFile(at('nightly', 'patients.csv'), 'utf8');
    const second = await run(...line);
    expect(second.code).toBe(0);
    const names = (await readdir(at('nightly'))).filter((name) => /\.changes\..*\.csv$/.test(name));
    expect(names).toEqual([expect.stringMatching(/^patients\.changes\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.csv$/)]);
    const [file = ''] = names;
    expect(second.stderr).toMatch(
      `Only what changed since the last complete run is in ${file} (1 row); no changes of transactions.`,
    );
    expect(await readFile(at('nightly', 'patients.csv'), 'utf8')).toBe(whole);
    expect((await run('export', 'verify', `nightly/${file}`, 'nightly/patients.csv')).code).toBe(0);
    const changed = (await readFile(at('nightly', file), 'utf8')).trim().split('\n').slice(1);
    expect(changed).toHaveLength(1);
    expect(changed[0]).toMatch(new RegExp(`^${PATIENT + 5},.*Newtown`));
    const ids = (await readFile(at('nightly', 'patients.ids.csv'), 'utf8')).trim().split('\n');
    expect(ids).toEqual(['id', ...fixturePatients(COUNT).map(({ id }) => String(id))]);

    const kept = JSON.parse((await run('export', 'bookmarks', 'list', '--json')).stdout);
    expect(kept.map(({ name, resource }: Record<string, string>) => [name, resource])).toEqual([
      ['nightly', 'patients'],
      ['nightly', 'transactions'],
    ]);
    expect((await run('export', 'bookmarks', 'reset', 'nightly')).code).toBe(2);
    expect((await run('export', 'bookmarks', 'reset', 'nightly', '--resource', 'patients', '--yes')).code).toBe(0);
    await run(...line);
    const again = JSON.parse(await readFile(at('nightly', 'summary.json'), 'utf8'));
    expect(again.files.map(({ rows }: { rows: number }) => rows)).toEqual([COUNT, COUNT, 0, 0]);
  });

  it('is refused in a folder that another run writes, and goes on with what that run left', async () => {
    const { url, stalled, server } = await stalling(3);
    const busy = ['export', 'patients', '--to', 'busy', '--page-size', '100'];
    const child = start(place.path, busy, { ...env, MOLAR_URL: url });
    await stalled;
    const second = await run(...busy);
    expect(second.code).toBe(9);
    expect(second.stderr).toMatch(
      new RegExp(`^Error: The folder busy is in use by process ${child.pid} since \\S+ \\(`),
    );
    child.kill('SIGTERM');
    expect(await exit(child)).toBe(143);
    server.closeAllConnections();
    server.close();
    expect(JSON.parse(await readFile(at('busy', 'summary.json'), 'utf8'))).toMatchObject({
      ...{ complete: false, exitCode: 143, reason: 'run.terminated', files: [{ status: 'failed' }] },
    });
    expect((await run(...busy)).code).toBe(0);
    expect((await run('export', 'verify', 'busy/patients.csv')).code).toBe(0);
  });

  it('stops after --max-duration', async () => {
    const { url, server } = await stalling(3);
    const slow = ['export', 'patients', '--to', 'slow', '--page-size', '100', '--max-duration', '2s'];
    const child = start(place.path, slow, { ...env, MOLAR_URL: url });
    expect(await exit(child)).toBe(7);
    server.closeAllConnections();
    server.close();
    const summary = JSON.parse(await readFile(at('slow', 'summary.json'), 'utf8'));
    expect(summary).toMatchObject({ reason: 'run.overtime', files: [{ status: 'failed' }] });
  });
});

describe('export verify', () => {
  beforeAll(async () => {
    for (const folder of ['exported', 'verified']) await mkdir(at(folder));
    await run('patients', 'list', ...FIELDS, '--out', join('exported', 'p.csv'), '--receipt');
  });

  it.each<[string, (path: string) => Promise<unknown>, number, RegExp]>([
    ['nothing changed', async () => undefined, 0, /^$/],
    [
      'one byte changed',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('Jones', 'Jonas')),
      9,
      /sha256/,
    ],
    ['the end cut off', (path) => truncate(path, 5000), 9, /has 5000 bytes/],
    [
      'a row removed',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).replace(/\n.*\n/, '\n')),
      9,
      /has 1,233 records, and 1,234 were exported/,
    ],
  ])('with %s', async (_name, spoil, code, message) => {
    const file = join('verified', 'p.csv');
    for (const name of [file, `${file}.receipt.json`]) await copyFile(at('exported', basename(name)), at(name));
    await spoil(at(file));
    const verified = await run('export', 'verify', file);
    expect(verified.code).toBe(code);
    expect(verified.stderr).toMatch(message);
    expect(verified.stdout).toMatch(code === 0 ? /^verified\/p\.csv is complete: 1,234 rows/ : /^$/);
  });
});
