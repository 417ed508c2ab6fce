import { type Format, formatsWhere } from '../../../src/core/output/formats.ts';
import { MANY, type ManyRecords } from './manyrecords.ts';
import type { FaultyWorld } from './runfaulty.ts';
import { seeded } from './seeded.ts';

/** Formats whose files can be resumed. */
export const FORMATS = formatsWhere(({ isResumable }) => isResumable);

/** What of a resource is exported, and in which form. */
export interface Exported {
  readonly records: ManyRecords;
  readonly format: Format;
  readonly fields: string | undefined;
}

/** One run of an export: its line from the flags on, and what is done to it. */
export interface ScenarioRun {
  readonly seed: number;
  readonly flags: readonly string[];
  /** Whether it goes on with what an earlier run left, if it may. */
  readonly resumes: boolean;
  readonly faults: Omit<FaultyWorld, 'proxy'>;
}

/** An export that goes wrong in ways of its own, again and again: the same for the same seed. */
export interface Scenario {
  readonly exported: Exported;
  /** The run at first for 0, the ones after it that are to bring it to its end. */
  readonly run: (number: number) => ScenarioRun;
}

/** Runs of a scenario after which it must be done. */
export const MOST_RUNS = 12;

/** The line that exports it, without page size and file. */
export function exportLine({ records, format, fields }: Exported): string[] {
  return [records.topic, 'list', '--format', format, ...(fields === undefined ? [] : ['--fields', fields])];
}

export function scenarioOf(seed: number): Scenario {
  const random = seeded(seed);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const exported = {
    records: pick(MANY),
    format: pick(FORMATS),
    fields: pick([undefined, undefined, 'id,lastModified']),
  };
  const share = pick([0.1, 0.3, 0.5]);
  const run = (number: number): ScenarioRun => {
    const parallel = pick(['1', '1', '2', '4', '8']);
    const flags = [
      '--page-size',
      pick(['4', '7', '10', '25']),
      '--parallel',
      parallel,
      ...pick([[], ['--max-retries', '2']]),
    ];
    // Whatever went wrong ends in time, so that the export can be brought to its end.
    const bad = number < MOST_RUNS / 2;
    const ends = pick(['not', 'breaks', 'breaks', 'interrupt'] as const);
    const at = 1 + Math.floor(random() * 14);
    return {
      seed: seed * 100 + number,
      flags,
      // One in four never does, so that starting over is among any few seeds.
      resumes: random() < 0.85 && seed % 4 !== 0,
      faults: {
        share: bad ? share : 0.05,
        most: bad ? pick([2, 3, 7]) : 1,
        ...(bad && ends === 'breaks' && { breaksAt: at }),
        ...(bad && ends === 'interrupt' && { interruptAt: at }),
      },
    };
  };
  return { exported, run };
}
