import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { type Served, serve, writeFixture } from '../molar.ts';
import { hashesIn, readDatabase, rowsOf } from './databases.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED, type Told } from './powercut.ts';
import { ask, contentOf, makeDocument, makeTag } from './requests.ts';
import { needRecorder } from './strace.ts';
import { fileIn, sha256 } from './trees.ts';

let place: Place;
let fixture: string;

beforeAll(async () => {
  place = await powerPlace();
  fixture = join(place.folder, '..', 'fixture.ndjson');
  await writeFixture(join(place.folder, '..'), 3);
});

afterAll(() => place.remove());

const LINE = ['serve', '--port', '0', '--json', '--data', 'd'];

/** What clients were told: names of tags and documents that were made, and ids of those deleted. */
function acknowledged(told: readonly Told[]) {
  const answers = told.filter(({ to, text }) => to === 'network' && /^HTTP\/1.1 20/.test(text)).map(({ text }) => text);
  const found = (pattern: RegExp) => answers.flatMap((text) => pattern.exec(text)?.[1] ?? []);
  return { tags: found(/"tagText":"([\w-]+)"/), documents: found(/"name":"(document-\d)\.pdf"/) };
}

const nameOf = (json: string) => String(JSON.parse(json).name).replace('.pdf', '');

/** What of it is not in the database, or not in its file. */
function lost({ tree, told }: Cut): string[] {
  const { tags, documents } = acknowledged(told);
  // Then the document that is deleted in the end may be gone already.
  const isDeleting = ['document-1', 'document-2'].every((name) => documents.includes(name));
  const isServing = told.some(({ to, text }) => to === 'output' && text.includes('listening'));
  const stored = readDatabase(tree, 'd/molar.sqlite', (database) => ({
    patients: rowsOf(database, 'patients', 'id').length,
    tags: rowsOf<{ json: string }>(database, 'transactiontags', 'json').map(({ json }) => JSON.parse(json).tagText),
    documents: rowsOf<{ json: string; guid: string }>(database, 'documents', 'json, guid'),
  })) ?? { patients: 0, tags: [], documents: [] };
  const files = hashesIn(tree, 'd/files');
  const names = stored.documents.map(({ json }) => nameOf(json));
  const broken = stored.documents.filter(
    ({ guid }, at) => files.get(`${guid}-original`) !== sha256(contentOf(names[at] ?? '')),
  );
  return [
    ...(isServing && stored.patients !== 3 ? ['the imported patients are lost'] : []),
    ...(isServing && !fileIn(tree, 'd/audit.key')?.includes('-----END') ? ['the key of the audit log is lost'] : []),
    ...tags.filter((text) => !stored.tags.includes(text)).map((text) => `${text} was acknowledged and is lost`),
    ...documents
      .filter((name) => !names.includes(name) && !(isDeleting && name === 'document-0'))
      .map((name) => `${name} was acknowledged and is lost`),
    ...broken.map(({ json }) => `${nameOf(json)} is in the database and its file is not whole`),
  ];
}

test(`a server keeps what it acknowledged, and does nothing by halves (seed ${SEED})`, async (context) => {
  needRecorder(context);
  const recording = await record(place, [...LINE, '--import', fixture], {}, async (line) => {
    const { url, pid } = JSON.parse(line) as { url: string; pid: number };
    await makeTag(url, 'tag-0');
    const [document] = await Promise.all([
      makeDocument(url, 'document-0'),
      makeTag(url, 'tag-1'),
      makeTag(url, 'tag-2'),
    ]);
    await Promise.all([makeDocument(url, 'document-1'), makeDocument(url, 'document-2')]);
    await ask(url, 'DELETE', `/documents/${document.id}`);
    await makeTag(url, 'tag-3');
    process.kill(pid, 'SIGTERM');
  });
  expect(recording.code, recording.stderr).toBe(0);
  const { tags, documents } = acknowledged(recording.steps.filter((step) => step.does === 'tell'));
  expect(tags.toSorted()).toEqual(['tag-0', 'tag-1', 'tag-2', 'tag-3']);
  expect(new Set(documents)).toEqual(new Set(['document-0', 'document-1', 'document-2']));
  await cutEverywhere(recording, { look: lost, goOn, every: 149 });
});

/** Another start serves what was acknowledged, and a check finds nothing. */
async function goOn({ tree, told }: Cut): Promise<string[]> {
  const { tags, documents } = acknowledged(told);
  let served: Served;
  try {
    // All of an import is there, or nothing of it.
    const isImported = readDatabase(
      tree,
      'd/molar.sqlite',
      (database) => rowsOf(database, 'patients', 'id').length > 0,
    );
    served = await serve(place.folder, ['--data', 'd', ...(isImported ? [] : ['--import', fixture])]);
  } catch (cause) {
    return [`the next start fails: ${cause}`];
  }
  const list = async (resource: string) =>
    (await ask<{ tagText?: string; name?: string }[]>(served.url, 'GET', `/${resource}?pageSize=100`)).map(
      ({ tagText, name = '' }) => tagText ?? name.replace('.pdf', ''),
    );
  const [tagsNow, documentsNow] = [await list('transactiontags'), await list('documents')];
  await served.stop();
  const checked = await molarIn(place.folder, ['server', 'check', '--deep', '--data', 'd']);
  return [
    ...tags.filter((text) => !tagsNow.includes(text)).map((text) => `${text} is not served`),
    ...documents
      .filter((name) => name !== 'document-0' && !documentsNow.includes(name))
      .map((name) => `${name} is not served`),
    ...(checked.code === 0 ? [] : [`server check: ${checked.stdout}${checked.stderr}`]),
  ];
}
