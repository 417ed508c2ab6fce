import { test } from 'vitest';
import { PracticeRun } from '../acceptance/torture/practicerun.ts';
import type { StoreName } from '../acceptance/torture/stores.ts';
import { Tally } from '../acceptance/torture/tally.ts';
import { say, secondsSince, setting } from './figures.ts';

const SEED = setting('MOLAR_TORTURE_SEED', Date.now() % 1_000_000_007);

/** Rounds of one practice, before the next one begins empty. */
const ROUNDS_OF_PRACTICE = 25;

test.each([
  ['sqlite', setting('MOLAR_TORTURE_ROUNDS', 500)],
  ['postgres', setting('MOLAR_TORTURE_POSTGRES_ROUNDS', 50)],
] as const)(
  'a server on %s that is killed %i times loses nothing and does nothing by halves',
  async (store, rounds) => {
    await torture(store, rounds);
  },
);

async function torture(store: StoreName, rounds: number): Promise<void> {
  const tally = new Tally();
  const began = performance.now();
  say(`${store}: ${rounds} rounds, MOLAR_TORTURE_SEED=${SEED}`);
  for (let practice = 0; tally.rounds < rounds; practice++) {
    await PracticeRun.run(store, Math.min(ROUNDS_OF_PRACTICE, rounds - tally.rounds), SEED + practice, tally);
    say(`${store}: ${tally.rounds} rounds after ${secondsSince(began)} s`);
  }
  say(`${store}: ${tally.text}\n${store}: ${secondsSince(began)} s`);
}
