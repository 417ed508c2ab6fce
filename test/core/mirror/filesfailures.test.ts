import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { type NetworkOptions, openNetwork } from '../../../src/core/transport/network.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { TestClock } from '../../support/clock.ts';
import { PATIENTS } from '../../support/ids.ts';
import { type TestService, testService } from '../../support/service.ts';
import { listening } from './practice.ts';

let service: TestService;
let folder: string;
let files: string;
let env: Readonly<Record<string, string>>;
/** Documents that were asked for by their ids. */
let asked: string[];
/** What is answered to that in place of the service. */
let answerTo: ((id: string) => { readonly status: number; readonly text: string } | undefined) | undefined;

beforeEach(async () => {
  service = await testService(undefined, { clock: new TestClock(Date.now()) });
  env = await listening(service);
  folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
  files = join(folder, 'contents');
  asked = [];
  answerTo = undefined;
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

function network(options: NetworkOptions): ReturnType<typeof openNetwork> {
  const opened = openNetwork(options);
  const send: typeof opened.send = async (request) => {
    const [, id] = /\/documents\/(\d+)$/.exec(new URL(request.url).pathname) ?? [];
    if (id === undefined) return opened.send(request);
    asked.push(id);
    const own = answerTo?.(id);
    if (own === undefined) return opened.send(request);
    const body = (async function* () {
      yield Buffer.from(own.text);
    })();
    return { status: own.status, headers: {}, body };
  };
  return { ...opened, send };
}

async function sync(...words: string[]) {
  const ran = await runCommand(
    'mirror:sync',
    MirrorSync,
    ['documents', '--to', join(folder, 'practice.db'), '--files', files, '--json', ...words],
    { env, clock: { now: Date.now, sleep: async () => {} }, openNetwork: network },
  );
  return { ...ran, json: ran.stdout === '' ? undefined : JSON.parse(ran.stdout) };
}

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
  answerTo = () => {
    throw new TypeError('a mistake');
  };
  expect((await sync()).exitCode).toBe(1);
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
  expect((await sync('--columns', 'documents:mimeType')).exitCode).toBe(0);
  expect(await names(id)).toEqual([`document-${id}`]);
});
