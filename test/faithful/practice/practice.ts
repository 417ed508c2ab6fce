import type { Moods } from '../moods.ts';
import { Draws } from '../random.ts';
import { type Practice, RESOURCES, Shelf } from '../store.ts';
import { makeAppointments, makeEvents, makeHistories, makeMissed, makeReasons } from './calendar.ts';
import { makeDocuments, makeImages } from './files.ts';
import { makeOwing, makeTags, makeTransactions } from './ledger.ts';
import { Maker } from './maker.ts';
import { makePatients, makePlans } from './people.ts';

/** How many records of each resource a practice begins with. */
export interface Sizes {
  readonly appointments: number;
  readonly documents: number;
  readonly events: number;
  readonly histories: number;
  readonly images: number;
  readonly missed: number;
  readonly patients: number;
  readonly plans: number;
  readonly reasons: number;
  readonly tags: number;
  readonly transactions: number;
}

export const SMALL: Sizes = {
  appointments: 30,
  documents: 12,
  events: 40,
  histories: 60,
  images: 25,
  missed: 25,
  patients: 60,
  plans: 30,
  reasons: 9,
  tags: 24,
  transactions: 80,
};

export const ORGANIZATION = '64a1f0c2d3e4b5a697881234';

const YEAR = 365 * 86_400_000;

/** The practice of a seed: the same moods, sizes and time give the same records. */
export function makePractice(seed: string, moods: Moods, sizes: Sizes, now: number): Practice {
  const draws = new Draws(`practice ${seed}`);
  const practice = emptyPractice(draws, now);
  const maker = new Maker(practice, moods, draws, now);
  makePatients(maker, sizes.patients);
  makePlans(maker, sizes.plans);
  makeTags(maker, sizes.tags);
  makeTransactions(maker, sizes.transactions);
  makeAppointments(maker, sizes.appointments);
  makeMissed(maker, sizes.missed);
  makeHistories(maker, sizes.histories);
  makeEvents(maker, sizes.events);
  makeReasons(maker, sizes.reasons);
  makeDocuments(maker, sizes.documents);
  makeImages(maker, sizes.images);
  return { ...practice, owing: makeOwing(maker) };
}

function emptyPractice(draws: Draws, now: number): Practice {
  const number = () => draws.whole(1e10, 9e10);
  const locations = ['America/Denver', 'America/New_York', 'America/Phoenix'].map((zone) => ({ id: number(), zone }));
  return {
    organization: ORGANIZATION,
    created: now - 13 * YEAR,
    zone: 'America/Denver',
    locations,
    providers: Array.from({ length: 4 }, (_, index) => ({
      id: number(),
      isActive: index !== 3,
      isNonPersonEntity: index === 2,
    })),
    operatories: locations.flatMap(({ id }) => [1, 2].map(() => ({ id: number(), location: id }))),
    perioExams: [number(), number()],
    owing: [],
    shelves: Object.fromEntries(RESOURCES.map((name) => [name, new Shelf()])) as Practice['shelves'],
    files: new Map(),
    billingTypes: new Map(),
  };
}
