import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED } from './powercut.ts';
import { needRecorder } from './strace.ts';
import { fileIn, jsonIn } from './trees.ts';

let place: Place;

beforeAll(async () => {
  place = await powerPlace();
});

afterAll(() => place.remove());

test(`a setting is there once it was told, and the config is never half (seed ${SEED})`, async (context) => {
  needRecorder(context);
  const env = { MOLAR_CONFIG_DIR: join(place.folder, 'home', 'config') };
  const first = await record(place, ['config', 'set', 'pageSize', '3'], env);
  const second = await record(place, ['config', 'set', 'maxRetries', '2'], env);
  const wanted = { pageSize: '3', maxRetries: '2' };
  for (const [recording, before, after] of [
    [first, undefined, { pageSize: '3' }],
    [second, { pageSize: '3' }, wanted],
  ] as const) {
    expect(recording.code, recording.stderr).toBe(0);
    const look = ({ tree, isDone }: Cut) => {
      const config = jsonIn(tree, 'home/config/config.json') as { defaults?: object } | undefined;
      const text = JSON.stringify(config?.defaults);
      if (isDone)
        return text === JSON.stringify(after) ? [] : ['the command ended with 0, and the setting is not there'];
      const isKnown =
        fileIn(tree, 'home/config/config.json') === undefined ? before === undefined : config !== undefined;
      return isKnown && [before, after].some((each) => JSON.stringify(each) === text)
        ? []
        : [`the config is half: ${text}`];
    };
    const goOn = async () => {
      const { code, stderr } = await molarIn(place.folder, ['config', 'set', 'maxRetries', '2'], env);
      const { defaults } = jsonIn(place.tree(), 'home/config/config.json') as { defaults: Record<string, string> };
      return code === 0 && defaults.maxRetries === '2' ? [] : [`the next command ends with ${code}: ${stderr}`];
    };
    await cutEverywhere(recording, { look, goOn, few: 1 });
  }
});
