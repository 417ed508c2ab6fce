import { afterAll, beforeAll, expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { serve, writeFixture } from '../molar.ts';
import { hashesIn, readDatabase, rowsOf } from './databases.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED } from './powercut.ts';
import { contentOf, makeDocument } from './requests.ts';
import { needRecorder } from './strace.ts';
import { fileIn, jsonIn, namesIn, sha256, type Tree } from './trees.ts';

let place: Place;
const NAMES = ['document-0', 'document-1', 'document-2'];

beforeAll(async () => {
  place = await powerPlace();
  await writeFixture(place.folder, 3);
  const served = await serve(place.folder, ['--data', 'd', '--import', 'fixture.ndjson']);
  for (const name of NAMES) await makeDocument(served.url, name);
  await served.stop();
});

afterAll(() => place.remove());

interface Manifest {
  readonly database: { readonly sha256: string };
  readonly files: { readonly sha256: string; readonly count: number };
}

const hashIn = (tree: Tree, path: string) => sha256(fileIn(tree, path) ?? Buffer.alloc(0));

/** What is wrong with a backup; nothing where there is none. */
function wrongBackup(tree: Tree, name: string): string[] {
  if (namesIn(tree, name).length === 0) return [];
  const manifest = jsonIn(tree, name, 'manifest.json') as Manifest | undefined;
  if (manifest === undefined) return ['the backup has its name and no manifest'];
  const list = fileIn(tree, name, 'files.sha256')?.toString().trim().split('\n') ?? [];
  const broken = list.filter((line) => hashIn(tree, `${name}/${line.slice(66)}`) !== line.slice(0, 64));
  return [
    ...(hashIn(tree, `${name}/molar.sqlite`) === manifest.database.sha256
      ? []
      : ['the database is not that of the manifest']),
    ...(hashIn(tree, `${name}/files.sha256`) === manifest.files.sha256 ? [] : ['the list is not that of the manifest']),
    ...(list.length === NAMES.length ? [] : [`the list has ${list.length} files`]),
    ...broken.map((line) => `the backup has not ${line}`),
  ];
}

/** What is wrong with data in a folder; nothing where there is none. */
function wrongData(tree: Tree, name: string): string[] {
  if (namesIn(tree, name).length === 0) return [];
  const documents = readDatabase(tree, `${name}/molar.sqlite`, (database) =>
    rowsOf<{ json: string; guid: string }>(database, 'documents', 'json, guid'),
  );
  const files = hashesIn(tree, `${name}/files`);
  const whole = documents?.filter(
    ({ json, guid }) => files.get(`${guid}-original`) === sha256(contentOf(JSON.parse(json).name.replace('.pdf', ''))),
  );
  return whole?.length === NAMES.length ? [] : [`${name} has its name and ${whole?.length ?? 'no'} documents`];
}

const server = (...args: readonly string[]) => molarIn(place.folder, ['server', ...args]);

test(`a backup, and what is restored of one, is whole or not there (seed ${SEED})`, async (context) => {
  needRecorder(context);
  const lookAtBackup = ({ tree, isDone }: Cut) => [
    ...wrongBackup(tree, 'b'),
    ...(isDone && namesIn(tree, 'b').length === 0 ? ['the backup was told and is not there'] : []),
    ...(isDone && namesIn(tree, 'b').includes('unfinished.lock')
      ? ['the backup was told and is marked as unfinished']
      : []),
  ];
  const backedUp = await record(place, ['server', 'backup', 'b', '--data', 'd']);
  expect(backedUp.code, backedUp.stderr).toBe(0);
  expect(wrongBackup(place.tree(), 'b')).toEqual([]);

  const lookAtData = ({ tree, isDone }: Cut) => [
    ...wrongData(tree, 'r'),
    ...(isDone && namesIn(tree, 'r').length === 0 ? ['the data was told to be restored and is not there'] : []),
  ];
  const restored = await record(place, ['server', 'restore', 'b', '--data', 'r']);
  expect(restored.code, restored.stderr).toBe(0);
  expect(wrongData(place.tree(), 'r')).toEqual([]);

  await cutEverywhere(restored, { look: lookAtData, goOn: () => goOn('restore', lookAtData), few: 1, every: 41 });
  await cutEverywhere(backedUp, { look: lookAtBackup, goOn: () => goOn('backup', lookAtBackup), few: 1, every: 41 });
});

/** Another run makes what is not there, and what it makes can be restored. */
async function goOn(what: 'backup' | 'restore', look: (cut: Cut) => readonly string[]): Promise<string[]> {
  const name = what === 'backup' ? 'b' : 'r';
  const isThere = namesIn(place.tree(), name).length > 0;
  const { code, stderr } =
    what === 'backup' ? await server('backup', 'b', '--data', 'd') : await server('restore', 'b', '--data', 'r');
  const checked =
    what === 'backup'
      ? await server('restore', 'b', '--data', 'again')
      : await server('check', '--deep', '--data', 'r');
  return [
    ...look({ tree: place.tree(), told: [], isDone: true }),
    ...((code === 0) === !isThere ? [] : [`the next run ends with ${code}: ${stderr}`]),
    ...(checked.code === 0 ? [] : [`what was made is not whole: ${checked.stdout}${checked.stderr}`]),
  ];
}
