import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';
import { PATIENTS } from '../../support/ids.ts';
import type { TestService } from '../../support/service.ts';
import { answer } from '../transport/script.ts';
import { mirrorFolder, openServer, syncTo } from './mirroring.ts';
import { answered } from './network.ts';

let service: TestService;
let folder: string;
let file: string;
let files: string;
let env: Readonly<Record<string, string>>;
/** Addresses of contents that were asked for. */
let fetched: string[];

beforeEach(async () => {
  ({ folder, file } = await mirrorFolder());
  ({ service, env } = await openServer());
  files = join(folder, 'contents');
  fetched = [];
});

/** A network on which the content at some address is not sent. */
const network = (isDown: (url: string) => boolean = () => false) =>
  answered((url) => {
    if (!new URL(url).pathname.startsWith('/files/')) return undefined;
    fetched.push(url);
    return isDown(url) ? answer(410, '') : undefined;
  });

const sync = (words: readonly string[] = [], world: World = {}, to = file) =>
  syncTo(to, words, { env, openNetwork: network(), ...world });

interface Document {
  readonly id: number;
  readonly name: string;
  readonly storage: { readonly original?: string };
}

/** What there should be: the content of each document as the service sends it, by its path. */
async function wanted(): Promise<Record<string, string>> {
  const { body } = await service.call('GET', '/documents', { query: { lastId: 0, pageSize: 500 } });
  const found: Record<string, string> = {};
  for (const { id, name, storage } of body.data as Document[]) {
    if (storage.original === undefined) continue;
    const link = new URL(storage.original, env.MOLAR_URL);
    const response = await service.app.inject({ url: link.pathname + link.search });
    found[`${id}/${name}`] = response.rawPayload.toString('base64');
  }
  return found;
}

async function there(): Promise<Record<string, string>> {
  const entries = await readdir(files, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const own = paths.filter((path) => !path.includes('.molar-files'));
  const read = async (path: string) => {
    expect((await stat(path)).mode & 0o777).toBe(OWNER_ONLY.file);
    return [path.slice(files.length + 1).replaceAll('\\', '/'), (await readFile(path)).toString('base64')];
  };
  return Object.fromEntries(await Promise.all(own.map(read)));
}

async function upload(name: string, content: string): Promise<Document> {
  const file = { content: Buffer.from(`%PDF-1.4 ${content}`).toString('base64') };
  const { status, body, text } = await service.call('POST', '/documents', {
    body: { name, mimeType: 'PDF', file, ownerPatient: { id: PATIENTS.ann } },
  });
  expect(status, text).toBe(201);
  return body.data as Document;
}

it('has the content of every document, and fetches what is new alone', async () => {
  await upload('-rf *:..', 'a name that no system takes');
  const first = await sync(['--files', files]);
  expect(first).toMatchObject({ exitCode: 0, stderr: '' });
  const names = Object.keys(await there());
  expect(names.length).toBe(Object.keys(await wanted()).length);
  expect(names.every((name) => /^\d+\/\w[^/\\:*]*$/.test(name))).toBe(true);
  expect(Object.values(await there()).sort()).toEqual(Object.values(await wanted()).sort());
  expect(names.length).toBeGreaterThan(2);

  fetched = [];
  const second = await sync();
  expect([second.exitCode, fetched]).toEqual([0, []]);
  expect(second.json.requests).toBeLessThanOrEqual(12);

  const made = await upload('new', 'it is new');
  const [renamed, gone] = (await service.call('GET', '/documents', { query: { lastId: 0 } })).body.data as Document[];
  await service.call('PUT', `/documents/${renamed?.id}`, { body: { name: 'renamed' } });
  await service.call('DELETE', `/documents/${gone?.id}`);
  expect(await sync()).toMatchObject({ exitCode: 0 });
  expect(fetched.length).toBe(1);
  const found = await there();
  expect(found[`${made.id}/new.pdf`]).toBe(Buffer.from('%PDF-1.4 it is new').toString('base64'));
  expect(Object.keys(found).filter((name) => name.startsWith(`${renamed?.id}/`))).toEqual([
    expect.stringContaining('/renamed.'),
  ]);
  expect(Object.keys(found).filter((name) => name.startsWith(`${gone?.id}/`))).toEqual([]);
  expect(await readdir(files)).not.toContain(String(gone?.id));
  expect(Object.values(found).sort()).toEqual(Object.values(await wanted()).sort());
  // Nothing but its name is left of what is gone, not even that.
  expect(await readFile(join(files, '.molar-files.ndjson'), 'utf8')).not.toContain(gone?.name);
  const status = await runCommand('mirror:status', MirrorStatus, ['--to', file, '--json'], { env });
  expect(JSON.parse(status.stdout).files).toBe(files);
});

it('says which are not there, has the others, and tries again', async () => {
  const links = Object.keys(await wanted()).length;
  let first: string | undefined;
  const isDown = (url: string) => {
    first ??= new URL(url).pathname;
    return new URL(url).pathname === first;
  };
  const ran = await sync(['--files', files], { openNetwork: network(isDown) });
  expect([ran.exitCode, JSON.parse(ran.stderr).error]).toEqual([
    6,
    expect.objectContaining({
      code: 'run.partial',
      message: expect.stringMatching(/^The file of document \d+ is not/),
    }),
  ]);
  expect(ran.json.complete).toBe(false);
  expect(Object.keys(await there()).length).toBe(links - 1);
  fetched = [];
  // However young the records are.
  expect(await sync(['--fresh', '1h'])).toMatchObject({ exitCode: 0 });
  expect([fetched.length, await there()]).toEqual([1, await wanted()]);
  expect((await sync(['--fresh', '1h'])).json).toMatchObject({ complete: true, requests: 0 });
});

it('mends what was cut off or changed on the disk, and what a killed run has left', async () => {
  await sync(['--files', files]);
  const all = await wanted();
  const [cut = '', lost = ''] = Object.keys(all);
  await truncate(join(files, cut), 1);
  await rm(join(files, lost));
  await writeFile(join(files, `${lost}.part`), 'half');
  expect(await sync()).toMatchObject({ exitCode: 0 });
  expect(await there()).toEqual(all);
  // Half a line, and the folder of a document that is gone by now.
  const id = lost.split('/')[0];
  const index = join(files, '.molar-files.ndjson');
  await writeFile(index, `${await readFile(index, 'utf8')}{"id":"${id}","fi`);
  await service.call('DELETE', `/documents/${id}`);
  expect(await sync()).toMatchObject({ exitCode: 0 });
  expect(await there()).toEqual(await wanted());
  await rm(index);
  expect(await sync()).toMatchObject({ exitCode: 0 });
  expect(await there()).toEqual(await wanted());
});

it('is refused for a folder of another practice, and in a de-identified mirror', async () => {
  await sync(['--files', files]);
  const index = join(files, '.molar-files.ndjson');
  await writeFile(index, (await readFile(index, 'utf8')).replace(/"organization":"[^"]+"/, '"organization":"other"'));
  expect(await sync()).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('another mirror') });
  const names = await readdir(files);
  const words = ['--files', files, '--deidentify', join(folder, 'the.key')];
  expect(await sync(words, {}, join(folder, 'safe.db'))).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--files'),
  });
  expect([await readdir(files), (await readdir(folder)).includes('the.key')]).toEqual([names, false]);
});
