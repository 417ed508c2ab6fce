import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { World } from '../../cli/runcommand.ts';
import { PATIENTS } from '../../support/ids.ts';
import type { TestService } from '../../support/service.ts';
import { mirrorFolder, openServer, syncTo } from './mirroring.ts';
import { disturbed } from './network.ts';

let service: TestService;
let folder: string;
let file: string;
let files: string;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  ({ folder, file } = await mirrorFolder());
  ({ service, env } = await openServer());
  files = join(folder, 'contents');
});

const sync = (words: readonly string[] = [], world: World = {}) =>
  syncTo(file, ['documents', '--files', files, ...words], { env, ...world });

async function upload(name: string): Promise<string> {
  const file = { content: Buffer.from(`%PDF-1.4 ${name}`).toString('base64') };
  const { status, body } = await service.call('POST', '/documents', {
    body: { name, mimeType: 'PDF', file, ownerPatient: { id: PATIENTS.ann } },
  });
  expect(status).toBe(201);
  return String((body.data as { id: number }).id);
}

const names = (id: string) => readdir(join(files, id)).catch(() => undefined);

it('a mistake of molar ends the sync', async () => {
  await upload('letter');
  const openNetwork = disturbed(async (url) => {
    if (/\/documents\/\d+$/.test(new URL(url).pathname)) throw new TypeError('a mistake');
  });
  expect((await sync([], { openNetwork })).exitCode).toBe(1);
});

it('a folder of a document has its file alone, and what was forgotten stays so after a run that was killed', async () => {
  const id = await upload('letter');
  await sync();
  await rm(join(files, id, 'letter.pdf'));
  await writeFile(join(files, id, 'other.pdf'), 'other');
  const index = join(files, '.molar-files.ndjson');
  const entry = { id: '77', guid: null, bytes: 1, sha256: '' };
  const lines = [
    { ...entry, file: 'gone.pdf' },
    { ...entry, file: '' },
  ].map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(index, (await readFile(index, 'utf8')) + lines.join(''));
  // A folder that somebody has made since, which is none of ours.
  await mkdir(join(files, '77'));
  await writeFile(join(files, '77', 'own.txt'), 'own');
  expect((await sync()).exitCode).toBe(0);
  expect([await names(id), await names('77')]).toEqual([['letter.pdf'], ['own.txt']]);
  expect(await readFile(index, 'utf8')).not.toContain('gone.pdf');
});

it('files of documents whose names were not chosen have names of their ids', async () => {
  const id = await upload('letter');
  expect((await sync(['--columns', 'documents:mimeType'])).exitCode).toBe(0);
  expect(await names(id)).toEqual([`document-${id}`]);
});
