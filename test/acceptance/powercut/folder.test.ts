import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Faithful, startFaithful } from '../../faithful/service.ts';
import { molarIn } from '../inprocess.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED } from './powercut.ts';
import { needRecorder } from './strace.ts';
import { fileIn, jsonIn, namesIn, sha256, type Tree } from './trees.ts';

let service: Faithful;
let place: Place;
let env: Record<string, string>;

beforeEach(async () => {
  service = await startFaithful({ seed: 'power', moods: { pageCap: 50 }, practice: { patients: 120 } });
  place = await powerPlace();
  env = { ...service.env, MOLAR_CONFIG_DIR: `${place.folder}/config` };
});

afterEach(async () => {
  await service.close();
  await place.remove();
});

const LINE = [
  'export',
  'patients',
  '--to',
  'nightly',
  '--fields',
  'patients:id,lastName',
  '--format',
  'ndjson',
  '--since-last',
  'nightly',
  '--resume',
];

/** Lines of every file of patients that a receipt is of, as a reader of the folder would take them. */
function received(tree: Tree): { lines: Set<string>; problems: string[] } {
  const lines = new Set<string>();
  const problems: string[] = [];
  for (const name of namesIn(tree, 'nightly').filter((each) => each.endsWith('.receipt.json'))) {
    const receipt = jsonIn(tree, 'nightly', name) as { sha256?: string } | undefined;
    const file = fileIn(tree, 'nightly', name.replace('.receipt.json', ''));
    if (receipt === undefined || receipt.sha256 !== sha256(file ?? Buffer.alloc(0)))
      problems.push(`${name} is of another file`);
    for (const line of file?.toString().split('\n').filter(Boolean) ?? []) lines.add(lineOf(JSON.parse(line)));
  }
  return { lines, problems };
}

const lineOf = ({ id, lastName }: Readonly<Record<string, unknown>>) => `${id} ${lastName}`;
const expected = () => service.records('patients').map(lineOf);

/** What a bookmark stands for is there, in files that are whole. */
function look({ tree, isDone }: Cut, since: string | undefined, all: readonly string[]): string[] {
  const { lines, problems } = received(tree);
  const bookmarks = namesIn(tree, 'config', 'bookmarks').filter((name) => name.endsWith('.json'));
  const moved = bookmarks.filter((name) => {
    const bookmark = jsonIn(tree, 'config', 'bookmarks', name) as { since?: string } | undefined;
    if (bookmark === undefined) problems.push(`${name} is half a bookmark`);
    return bookmark !== undefined && bookmark.since !== since;
  });
  const lacking = all.filter((line) => !lines.has(line)).length;
  if (moved.length > 0 && lacking > 0)
    problems.push(`the bookmark has moved on, and ${lacking} records are in no file`);
  if (isDone && (moved.length === 0 || lacking > 0))
    problems.push(
      `the run ended with 0; bookmarks ${JSON.stringify(bookmarks.map((name) => jsonIn(tree, 'config', 'bookmarks', name)))}, ${since} before; ${lacking} records are in no file`,
    );
  if (isDone && namesIn(tree, 'nightly').includes('.molar-export.json'))
    problems.push('the run ended with 0, and the next one would resume it instead of asking for changes');
  return problems;
}

test(`a bookmark moves only when what it stands for is there (seed ${SEED})`, async (context) => {
  needRecorder(context);
  const goOn = async (nights: number) => {
    const ends = [];
    for (let night = 0; night < nights; night++) ends.push(await molarIn(place.folder, LINE, env));
    const { lines, problems } = received(place.tree());
    const lacking = expected().filter((line) => !lines.has(line)).length;
    return [
      ...problems,
      ...ends.filter(({ code }) => code !== 0).map(({ code, stderr }) => `a next run ends with ${code}: ${stderr}`),
      ...(lacking === 0 ? [] : [`after ${nights} more runs ${lacking} records are in no file`]),
    ];
  };
  const first = await record(place, LINE, env);
  expect(first.code, first.stderr).toBe(0);
  expect([...received(place.tree()).lines]).toEqual(expected());
  const all = expected();
  const [name = ''] = namesIn(place.tree(), 'config', 'bookmarks').filter((each) => each.endsWith('.json'));
  const { since } = jsonIn(place.tree(), 'config', 'bookmarks', name) as { since: string };

  // Of two runs within a second a bookmark would not move: the server tells its time in seconds.
  await sleep(1000);
  const changed = service.records('patients')[3];
  service.edit('patients', Number(changed?.id), { lastName: 'Changed' });
  const second = await record(place, LINE, env);
  expect(second.code, second.stderr).toBe(0);
  await cutEverywhere(second, { look: (cut) => look(cut, since, expected()), goOn: () => goOn(1) });
  // What the first run had read before the change is in its file as it was; the night after brings it as it is.
  await cutEverywhere(first, { look: (cut) => look(cut, undefined, all), goOn: () => goOn(2) });
});
