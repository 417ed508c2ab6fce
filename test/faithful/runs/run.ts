import type { Ran } from '../../cli/runcommand.ts';
import { type Driven, drive } from '../driving.ts';
import { faultsOf } from '../faults.ts';
import { moodsOf } from '../moods.ts';
import { Draws } from '../random.ts';
import type { Fields } from '../store.ts';
import { create } from './creating.ts';
import { download } from './downloading.ts';
import { count, exportFolder, list, listWhileChanging } from './reading.ts';
import { changesOnly } from './since.ts';

/** One seeded run: a service in its moods, with its faults, and what the client is to do there. */
export interface Run extends Driven {
  readonly draws: Draws;
  /** The command lines so far, for whoever has to repeat the run. */
  readonly lines: string[];
}

/** How a run ended. */
export interface Result {
  readonly seed: string;
  readonly lines: readonly string[];
  /** `whole`: all of it was done; `said`: what is not proved was said; `failed`: an exit code said so. */
  readonly end: 'whole' | 'said' | 'failed';
  /** What was lost, doubled or made up without a word; none is the expectation. */
  readonly problems: readonly string[];
  /** The last standard error. */
  readonly stderr: string;
}

export type Outcome = Pick<Result, 'end' | 'problems' | 'stderr'>;

const KINDS = [list, list, listWhileChanging, count, exportFolder, changesOnly, download, create, create, create];
const RATES = [0, 0.1, 0.3];

/** Runs one seed and compares what the client did with what the service has. */
export async function runOf(seed: string): Promise<Result> {
  const draws = new Draws(`run ${seed}`);
  const rate = draws.one(RATES);
  const driven = await drive({ seed, moods: moodsOf(seed), faults: faultsOf(seed, rate), practice: sizes(draws) });
  const run: Run = { ...driven, draws, lines: [] };
  try {
    const outcome = await draws.one(KINDS)(run);
    return { seed, lines: run.lines, ...outcome, problems: [...outcome.problems, ...violationsOf(run)] };
  } finally {
    await driven.close();
  }
}

/** Runs a command line of a run. */
export async function molar(run: Run, ...words: readonly string[]): Promise<Ran> {
  run.lines.push(words.join(' '));
  return run.molar(words);
}

/** What a reading lost or doubled: `shown` are ids of rows, `there` those of records that were there all the time. */
export function differences(
  what: string,
  shown: readonly string[],
  there: readonly Fields[],
  ever: readonly Fields[],
): { missing: readonly string[]; problems: readonly string[] } {
  const seen = new Set(shown);
  const known = new Set(ever.map(({ id }) => String(id)));
  const twice = shown.filter((id, index) => shown.indexOf(id) !== index);
  const madeUp = shown.filter((id) => !known.has(id));
  return {
    missing: there.map(({ id }) => String(id)).filter((id) => !seen.has(id)),
    problems: [
      ...(twice.length > 0 ? [`${what}: twice ${twice.join()}`] : []),
      ...(madeUp.length > 0 ? [`${what}: not stored ${madeUp.join()}`] : []),
    ],
  };
}

function sizes(draws: Draws) {
  const some = () => draws.whole(0, 3) * draws.whole(0, 25);
  return {
    patients: 5 + some(),
    documents: some(),
    events: some(),
    histories: some(),
    missed: some(),
    plans: some(),
    tags: some(),
    transactions: some(),
  };
}

/** Everything that the specification does not list, once each. */
function violationsOf({ service }: Run): string[] {
  return [
    ...new Set(service.violations.map(({ method, path, what }) => `${method} ${path.replace(/\d{6,}/, '…')}: ${what}`)),
  ];
}
