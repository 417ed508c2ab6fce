import { beforeAll, describe, expect, it } from 'vitest';
import { liveDay } from './day.ts';

const { MOLAR_SIMULATION_SEED: first, MOLAR_SIMULATION_RUNS: runs } = process.env;
const HOURS = Number(process.env.MOLAR_SIMULATION_HOURS ?? 1.5);
/**
 * Of our server and of the other: in their first hour and a half power is lost, the server is restarted, and an export
 * and an upload of scans are begun.
 */
const CHOSEN = [699, 6934];
const SEEDS =
  first === undefined && runs === undefined
    ? CHOSEN
    : Array.from({ length: Number(runs ?? 1) }, (_, index) => Number(first ?? 1) + index);

/** Days that are lived three times. */
const REPEATED = [1, 2];
const PART = 0.5;

// The first time loads modules, which takes time that is not virtual.
beforeAll(async () => {
  for (const seed of REPEATED) await liveDay(seed, PART);
});

describe(`${HOURS} hours of a practice, on virtual time and a network with faults`, () => {
  it.each(SEEDS)('seed %i: nothing is lost, nothing is there twice, and copies equal the server', async (seed) => {
    const { problems } = await liveDay(seed, HOURS);
    expect(problems).toEqual([]);
  });

  it.each(REPEATED)('are the same for the same seed, request by request: %i', async (seed) => {
    const one = await liveDay(seed, PART);
    const again = await liveDay(seed, PART);
    expect(one.requests).toBeGreaterThan(0);
    expect(again).toEqual(one);
  });
});
