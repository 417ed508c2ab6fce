import type { Role } from '../locations.ts';
import type { Person } from '../people.ts';
import { type Random, weights } from '../random.ts';

/** What a plan pays by; `none` is never covered. */
export type Category = 'preventive' | 'basic' | 'major' | 'none';

export interface Procedure {
  readonly name: string;
  readonly category: Category;
  /** Usual fee in cents. */
  readonly fee: number;
}

const procedure = (name: string, category: Category, dollars: number): Procedure => ({
  name,
  category,
  fee: dollars * 100,
});

const ADULT_CLEANING = procedure('Cleaning, adult', 'preventive', 112);
const CHILD_CLEANING = procedure('Cleaning, child', 'preventive', 78);
const FLUORIDE = procedure('Fluoride varnish', 'preventive', 42);
const PERIODIC_EXAM = procedure('Periodic exam', 'preventive', 58);
const FIRST_EXAM = procedure('Comprehensive exam', 'preventive', 96);
const BITEWINGS = procedure('Bitewing images', 'preventive', 68);
const FULL_IMAGES = procedure('Full mouth images', 'preventive', 145);
const ROOT_PLANING = procedure('Root planing, quadrant', 'basic', 248);

const TREATMENTS = weights<Procedure>([
  [procedure('Filling, one surface', 'basic', 164), 30],
  [procedure('Filling, two surfaces', 'basic', 212), 24],
  [procedure('Filling, three surfaces', 'basic', 259), 10],
  [procedure('Extraction', 'basic', 198), 8],
  [procedure('Limited exam', 'preventive', 74), 12],
  [procedure('Sealant', 'preventive', 52), 6],
  [procedure('Whitening', 'none', 320), 3],
  [procedure('Night guard', 'none', 445), 3],
]);

const ADULT_TREATMENTS = weights<Procedure>([
  [procedure('Crown, porcelain', 'major', 1_185), 8],
  [procedure('Crown build-up', 'major', 265), 3],
  [procedure('Root canal, molar', 'major', 1_090), 3],
  [procedure('Root canal, front tooth', 'basic', 760), 2],
  [procedure('Bridge, three units', 'major', 3_240), 1],
]);

/** What is done or planned at a visit, by who gives it. */
export function proceduresAt(role: Role, person: Person, first: boolean, random: Random): Procedure[] {
  return role === 'hygienist' ? hygiene(person, first, random) : treatment(person, first, random);
}

function hygiene(person: Person, first: boolean, random: Random): Procedure[] {
  if (person.age < 14) return [CHILD_CLEANING, FLUORIDE, first ? FIRST_EXAM : PERIODIC_EXAM];
  if (person.age > 35 && random.chance(0.08)) return [ROOT_PLANING, ROOT_PLANING];
  const done = [ADULT_CLEANING];
  if (first) done.push(FIRST_EXAM, FULL_IMAGES);
  else if (random.chance(0.6)) done.push(PERIODIC_EXAM);
  if (!first && random.chance(0.35)) done.push(BITEWINGS);
  return done;
}

function treatment(person: Person, first: boolean, random: Random): Procedure[] {
  const done = first ? [FIRST_EXAM, BITEWINGS] : [];
  if (person.age >= 25 && random.chance(0.22)) return [...done, random.weighted(ADULT_TREATMENTS)];
  done.push(random.weighted(TREATMENTS));
  if (random.chance(0.25)) done.push(random.weighted(TREATMENTS));
  return done;
}
