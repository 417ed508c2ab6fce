import { beforeAll, describe, expect, it } from 'vitest';
import { liveDay } from './day.ts';

const RUNS = Number(process.env.MOLAR_SIMULATION_RUNS ?? 2);
const FIRST = Number(process.env.MOLAR_SIMULATION_SEED ?? 1);
const HOURS = Number(process.env.MOLAR_SIMULATION_HOURS ?? 2);

// The first days load modules, which takes time that is not virtual.
beforeAll(async () => {
  for (const seed of [1, 2]) await liveDay(seed, 1);
});

describe(`${HOURS} hours of a practice, on virtual time and a network with faults`, () => {
  it.each(Array.from({ length: RUNS }, (_, index) => FIRST + index))(
    'seed %i: nothing is lost, nothing is there twice, and copies equal the server',
    async (seed) => {
      const { problems } = await liveDay(seed, HOURS);
      expect(problems).toEqual([]);
    },
  );

  it.each([1, 2])('are the same for the same seed, request by request: %i', async (seed) => {
    const first = await liveDay(seed, 0.5);
    const second = await liveDay(seed, 0.5);
    expect(first.requests).toBeGreaterThan(0);
    expect(second).toEqual(first);
  });
});
