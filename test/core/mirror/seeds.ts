import { type Driven, drive } from '../../faithful/driving.ts';
import { faultsOf } from '../../faithful/faults.ts';
import { moodsOf } from '../../faithful/moods.ts';
import type { Draws } from '../../faithful/random.ts';

const { MOLAR_MIRROR_RUNS: RUNS, MOLAR_MIRROR_SEED: FIRST } = process.env;

/** The seeds of random runs: `chosen`, where no number of them and no first one is asked for. */
export function seedsOf(chosen: readonly string[]): readonly string[] {
  if (RUNS === undefined && FIRST === undefined) return chosen;
  return Array.from({ length: Number(RUNS ?? 8) }, (_, index) => String(Number(FIRST ?? 1) + index));
}

/** Four of each kind of run, in which every mood is there with each of its values, and faults in some. */
export const CHOSEN = { mirror: ['122', '370', '466', '561'], verify: ['795', '4766', '5353', '5994'] } as const;

/** The share of requests of a run that go wrong: what is drawn of it first. */
export function faultRate(draws: Draws): number {
  return draws.one([0, 0, 0.1]);
}

/** A practice of few: more records of most kinds than a small page has, and no more than that takes. */
const FEW = {
  ...{ appointments: 12, documents: 10, events: 18, histories: 24, images: 10, missed: 10 },
  ...{ patients: 28, plans: 12, reasons: 6, tags: 10, transactions: 36 },
};

/**
 * A service of that practice with the moods of a seed, and faults in some; `draws` begins with those. Nothing is
 * compressed: what a mirror asks goes through the transport, of which other random runs have that mood.
 */
export function driveSeed(seed: string, draws: Draws): Promise<Driven> {
  return drive({
    seed,
    moods: { ...moodsOf(seed), encoding: 'identity' },
    faults: faultsOf(seed, faultRate(draws)),
    practice: FEW,
  });
}
