import fc from 'fast-check';
import { it } from 'vitest';
import { collectGarbage } from '../../../src/server/memory.ts';

/** Cases of a run of `npm test`; MOLAR_FUZZ_CASES asks for another number, and then a new seed each time. */
const SHORT = 600;

const asked = process.env.MOLAR_FUZZ_CASES;

/** The seed of this run: the same cases come from the same seed. MOLAR_FUZZ_SEED gives it. */
export const SEED = Number(process.env.MOLAR_FUZZ_SEED ?? (asked === undefined ? 20_260_302 : Date.now() % 2 ** 31));

const TOTAL = Number(asked ?? SHORT);

/** Milliseconds that one case may take on a busy machine; the longest real one takes a small part of it. */
export const LONGEST_CASE_MS = 20_000;

/** Bytes by which the heap may be larger at the end of a property than after its first half. */
const HEAP_GROWTH = 48 * 1024 * 1024;

/** Cases after which `renew` is called, so that no store grows without end. */
const ROUND = 1000;

interface FuzzPlan<T> {
  /** Part of all cases, from 0 to 1. */
  readonly share: number;
  readonly cases: fc.Arbitrary<T>;
  /** Complains by throwing. */
  readonly judge: (input: T) => Promise<void>;
  /** Ends what the cases so far have left and starts anew. */
  readonly renew: () => Promise<void>;
}

/** A test that judges generated cases, as many as the run's size gives it. Its failure tells the seed and the smallest case. */
export function fuzz<T>(name: string, { share, cases, judge, renew }: FuzzPlan<T>): void {
  const numRuns = Math.max(20, Math.ceil(TOTAL * share));
  // A bound for a hang, wide enough for a machine that is busy with other things.
  const timeout = 60_000 + numRuns * 2000;
  it(`${name} (seed ${SEED}, ${numRuns} cases)`, { timeout }, async () => {
    let done = 0;
    let half = Number.POSITIVE_INFINITY;
    const before = process.memoryUsage().rss;
    const started = performance.now();
    const property = fc.asyncProperty(cases, async (input) => {
      if (done > 0 && done % ROUND === 0) await renew();
      if (++done === Math.ceil(numRuns / 2)) half = heapNow();
      const from = performance.now();
      await judge(input);
      const took = performance.now() - from;
      if (took > LONGEST_CASE_MS) throw new Error(`The case took ${Math.round(took)} ms.`);
    });
    const run = await fc.check(property, { seed: SEED, numRuns });
    if (run.failed) throw new Error(failureText(run));
    const grown = heapNow() - half;
    if (grown > HEAP_GROWTH) throw new Error(`The heap grew by ${grown} bytes in ${numRuns / 2} cases.`);
    if (asked === undefined) return;
    const seconds = Math.round((performance.now() - started) / 1000);
    const figures = {
      name,
      seed: SEED,
      cases: done,
      seconds,
      heapGrown: grown,
      rssGrown: process.memoryUsage().rss - before,
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
  });
}

function heapNow(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const SHOWN = 3000;

function failureText<T>(run: fc.RunDetails<T>): string {
  const reason = run.errorInstance instanceof Error ? (run.errorInstance.stack ?? run.errorInstance.message) : '';
  const smallest = fc.stringify(run.counterexample);
  const where = `MOLAR_FUZZ_SEED=${run.seed}, path ${run.counterexamplePath}, after ${run.numRuns} cases`;
  return `${cut(reason)}\n${where}\nsmallest case: ${cut(smallest)}`;
}

function cut(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length} characters)`;
}
