import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connection, type Served, serve, writeFixture } from '../molar.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED } from './powercut.ts';
import { makeTag } from './requests.ts';
import { needRecorder } from './strace.ts';
import { jsonIn, namesIn } from './trees.ts';

const MESSAGES = 4;

let place: Place;
let served: Served;

beforeAll(async () => {
  place = await powerPlace();
  const above = join(place.folder, '..');
  await writeFixture(above, 1);
  served = await serve(above, ['--data', 'd', '--import', 'fixture.ndjson']);
  for (let number = 0; number < MESSAGES; number++) await makeTag(served.url, `tag-${number}`);
});

afterAll(async () => {
  await served.stop();
  await place.remove();
});

test(`a position is behind what was told, and as far as it when a listener ends (seed ${SEED})`, async (context) => {
  needRecorder(context);
  const env = { ...connection(served.url), MOLAR_CONFIG_DIR: join(place.folder, 'config') };
  const line = [
    'stream',
    'listen',
    '--name',
    'n',
    '--from',
    'beginning',
    '--limit',
    String(MESSAGES),
    '--format',
    'ndjson',
  ];
  const recording = await record(place, line, env);
  expect(recording.code, recording.stderr).toBe(0);
  const ids = (text: string) =>
    text
      .split('\n')
      .filter((each) => each !== '')
      .map((each) => JSON.parse(each).id as number);
  expect(ids(recording.stdout)).toHaveLength(MESSAGES);
  const look = ({ tree, told, isDone }: Cut) => {
    const output = told.filter(({ to }) => to === 'output').map(({ text }) => text);
    const heard = output.join('').split('\n').length - 1;
    const [name = ''] = namesIn(tree, 'config/streams').filter((each) => each.endsWith('.json'));
    const position = jsonIn(tree, 'config/streams', name) as { position?: string } | undefined;
    const at = Number(/\d+$/.exec(position?.position ?? '')?.[0] ?? 0);
    return [
      ...(name !== '' && position === undefined ? ['the position is half'] : []),
      ...(at > heard ? [`the position is behind message ${at}, and ${heard} were told`] : []),
      ...(isDone && at !== MESSAGES ? [`the listener has ended, and its position is behind message ${at}`] : []),
    ];
  };
  await cutEverywhere(recording, { look });
});
