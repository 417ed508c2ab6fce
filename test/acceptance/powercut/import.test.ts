import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACE } from '../../../src/server/import/staged/pace.ts';
import { molarIn } from '../inprocess.ts';
import { ORGANIZATION, serve, writeFixture } from '../molar.ts';
import { readDatabase, rowsOf } from './databases.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED } from './powercut.ts';
import { ask } from './requests.ts';
import { needRecorder } from './strace.ts';
import type { Tree } from './trees.ts';

let place: Place;
/** Before the import. */
const EARLIER = 3;
/** More than are published with the decision. */
const IMPORTED = PACE.atOnce + 30;

beforeAll(async () => {
  place = await powerPlace();
  await writeFixture(place.folder, EARLIER);
  const made = await molarIn(place.folder, [
    'server',
    'import',
    'fixture.ndjson',
    '--data',
    'd',
    '--allow-credentials',
  ]);
  expect(made.code, made.stderr).toBe(0);
  const lines = Array.from({ length: IMPORTED }, (_, n) =>
    JSON.stringify({
      ...{ type: 'PatientV1', organizationId: ORGANIZATION, id: 3_000_001 + n },
      ...{ firstName: 'Imported', lastName: `P${n}` },
    }),
  );
  await writeFile(join(place.folder, 'more.ndjson'), `${lines.join('\n')}\n`);
});

afterAll(() => place.remove());

/** How many patients there are, and the import that is decided and not yet published in full. */
function stateOf(tree: Tree): { readonly patients: number; readonly decided: string | undefined } {
  const state = readDatabase(tree, 'd/molar.sqlite', (database) => ({
    patients: rowsOf(database, 'patients', 'id').length,
    decided: rowsOf<{ name: string }>(database, 'imports', 'name')[0]?.name,
  }));
  return state ?? { patients: 0, decided: undefined };
}

const stagedIn = (tree: Tree, name: string) =>
  readDatabase(tree, `d/import-${name}.sqlite`, (database) => rowsOf(database, 'import_lines', 'id').length);

/** Whether a cut has left an import that is decided and not published in full. */
let sawDecided = false;

/** What is wrong: nothing may be there before the decision, and after it everything that is still to be published. */
function wrong({ tree, isDone }: Cut): string[] {
  const { patients, decided } = stateOf(tree);
  if (isDone) return patients === EARLIER + IMPORTED ? [] : [`the import was told and has ${patients} patients`];
  if (decided === undefined)
    return [EARLIER, EARLIER + IMPORTED].includes(patients) ? [] : [`${patients} patients of no import`];
  sawDecided = true;
  const staged = stagedIn(tree, decided);
  return staged === IMPORTED ? [] : [`the import is decided and has ${staged ?? 'no'} lines`];
}

test(`an import is invisible until it is decided, and is then completed (seed ${SEED})`, async (context) => {
  needRecorder(context);
  const recording = await record(place, ['server', 'import', 'more.ndjson', '--data', 'd']);
  expect(recording.code, recording.stderr).toBe(0);
  await cutEverywhere(recording, { look: wrong, goOn, surely: () => sawDecided, every: 23 });
});

/** A server publishes the rest of what was decided, and nothing of what was not. */
async function goOn({ tree }: Cut): Promise<string[]> {
  const { patients, decided } = stateOf(tree);
  const expected = { patients: decided === undefined ? patients : EARLIER + IMPORTED, decided: undefined };
  const served = await serve(place.folder, ['--data', 'd']);
  try {
    const count = async () => (await ask<{ total: number }>(served.url, 'GET', '/patients/totalcount')).total;
    await expect.poll(count).toBe(expected.patients);
  } catch (cause) {
    return [`the server has not gone on: ${cause}`];
  } finally {
    await served.stop();
  }
  const state = stateOf(place.tree());
  const checked = await molarIn(place.folder, ['server', 'check', '--deep', '--data', 'd']);
  return [
    ...(isDeepStrictEqual(state, expected) ? [] : [`${JSON.stringify(state)} is not ${JSON.stringify(expected)}`]),
    ...(checked.code === 0 ? [] : [`server check: ${checked.stdout}${checked.stderr}`]),
  ];
}
