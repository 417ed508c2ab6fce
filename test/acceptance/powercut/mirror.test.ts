import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wrongRows } from '../../core/mirror/oracle.ts';
import { type Faithful, startFaithful } from '../../faithful/service.ts';
import { molarIn } from '../inprocess.ts';
import { hashesIn, readDatabase, rowsOf } from './databases.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED } from './powercut.ts';
import { needRecorder } from './strace.ts';
import { sha256, type Tree } from './trees.ts';

let service: Faithful;
let place: Place;

beforeAll(async () => {
  service = await startFaithful({ seed: 'power', moods: { pageCap: 20 }, practice: { patients: 45, documents: 6 } });
  place = await powerPlace();
});

afterAll(async () => {
  await service.close();
  await place.remove();
});

const RESOURCES = ['patients', 'documents'] as const;
const LINE = ['mirror', 'sync', ...RESOURCES, '--to', 'practice.db', '--files', 'files'];

/** How many files of documents there are, and how many of them are not what the service has. */
function files(tree: Tree): { whole: number; broken: number } {
  const contents = new Set([...service.practice.files.values()].map(sha256));
  const found = [...hashesIn(tree, 'files')].filter(
    ([name]) => !name.startsWith('.molar') && !/\.part(\.json)?$/.test(name),
  );
  const whole = found.filter(([, hash]) => contents.has(hash)).length;
  return { whole, broken: found.length - whole };
}

function look({ tree, isDone }: Cut): string[] {
  const states = readDatabase(tree, 'practice.db', (database) =>
    RESOURCES.map((resource) => ({
      resource,
      rows: rowsOf(database, resource, 'id').length,
      state: rowsOf<{ resource: string; rows: number; complete: number }>(
        database,
        '_mirror',
        'resource, rows, complete',
      ).find((row) => row.resource === resource),
    })),
  );
  const complete = states?.filter(({ state }) => state?.complete === 1) ?? [];
  const { whole, broken } = files(tree);
  return [
    ...complete
      .filter(({ resource, rows, state }) => rows !== state?.rows || rows !== service.records(resource).length)
      .map(({ resource, rows }) => `${resource} is complete, with ${rows} rows`),
    ...(broken > 0 ? [`${broken} files are not whole`] : []),
    ...(isDone && complete.length < RESOURCES.length ? ['the sync ended with 0, and the mirror is not complete'] : []),
    ...(isDone && whole < service.records('documents').length
      ? [`the sync ended with 0, and ${whole} files are there`]
      : []),
  ];
}

test(`a mirror is never more than what it says, and goes on (seed ${SEED})`, async (context) => {
  needRecorder(context);
  const goOn = async () => {
    const { code, stderr } = await molarIn(place.folder, LINE, service.env);
    if (code !== 0) return [`the next sync ends with ${code}: ${stderr}`];
    const wrong = RESOURCES.flatMap((resource) =>
      wrongRows(join(place.folder, 'practice.db'), resource, service.records(resource)),
    );
    return [
      ...look({ tree: place.tree(), told: [], isDone: true }),
      ...(wrong.length > 0 ? [`wrong rows: ${wrong.slice(0, 3)}`] : []),
    ];
  };
  const recording = await record(place, LINE, service.env);
  expect(recording.code, recording.stderr).toBe(0);
  await cutEverywhere(recording, { look, goOn, every: 163 });
});
