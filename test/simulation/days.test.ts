import { beforeAll, describe, expect, it } from 'vitest';
import { liveDay, type Outcome } from './day.ts';

const RUNS = Number(process.env.MOLAR_SIMULATION_RUNS ?? 2);
const FIRST = Number(process.env.MOLAR_SIMULATION_SEED ?? 1);
const HOURS = Number(process.env.MOLAR_SIMULATION_HOURS ?? 2);

/** Days of both kinds of server. They load modules, which takes time that is not virtual: what is compared comes after. */
const first = new Map<number, Outcome>();
beforeAll(async () => {
  for (const seed of [FIRST, FIRST + 1]) first.set(seed, await liveDay(seed, HOURS));
});

describe(`${HOURS} hours of a practice, on virtual time and a network with faults`, () => {
  it.each(Array.from({ length: RUNS }, (_, index) => FIRST + index))(
    'seed %i: nothing is lost, nothing is there twice, and copies equal the server',
    async (seed) => {
      const { problems } = first.get(seed) ?? (await liveDay(seed, HOURS));
      expect(problems).toEqual([]);
    },
  );

  it.each([1, 2])('are the same for the same seed, request by request: %i', async (seed) => {
    const one = await liveDay(seed, 1);
    const again = await liveDay(seed, 1);
    expect(one.requests).toBeGreaterThan(0);
    expect(again).toEqual(one);
  });
});
