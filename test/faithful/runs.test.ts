import { describe, expect, it } from 'vitest';
import { type Result, runOf } from './runs/run.ts';

const RUNS = Number(process.env.MOLAR_FAITHFUL_RUNS ?? 25);
const FIRST = Number(process.env.MOLAR_FAITHFUL_SEED ?? 1);
const SECONDS = 1000;
/** Share of runs that may end with a failure: faults stay below the retries of the client. */
const FAILED = 0.1;

describe('seeded runs against a service that only keeps the specification', () => {
  it(
    `${RUNS} runs lose nothing without a word and store nothing twice`,
    async () => {
      const results: Result[] = [];
      for (let seed = FIRST; seed < FIRST + RUNS; seed++) results.push(await runOf(String(seed)));
      expect(results.filter(({ problems }) => problems.length > 0)).toEqual([]);
      const failed = results.filter(({ end }) => end === 'failed');
      expect(failed.length, failed.map(described).join('\n')).toBeLessThanOrEqual(RUNS * FAILED);
    },
    60 * SECONDS + RUNS * SECONDS,
  );
});

function described({ seed, lines, stderr }: Result): string {
  return `${seed}: ${lines.join('; ')}: ${stderr}`;
}
