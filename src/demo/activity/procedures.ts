import type { Person } from '../people.ts';
import type { StaffRole } from '../practice.ts';
import { type Random, weights } from '../random.ts';
import type { Category } from './coverage.ts';

/** Something done to a patient, with its fee in cents. */
export interface Procedure {
  readonly name: string;
  readonly category: Category;
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

const TREATMENTS = weights([
  [procedure('Filling, one surface', 'basic', 164), 30],
  [procedure('Filling, two surfaces', 'basic', 212), 24],
  [procedure('Filling, three surfaces', 'basic', 259), 10],
  [procedure('Extraction', 'basic', 198), 8],
  [procedure('Limited exam', 'preventive', 74), 12],
  [procedure('Sealant', 'preventive', 52), 6],
  [procedure('Whitening', 'none', 320), 3],
  [procedure('Night guard', 'none', 445), 3],
]);

const ADULT_TREATMENTS = weights([
  [procedure('Crown, porcelain', 'major', 1_185), 8],
  [procedure('Crown build-up', 'major', 265), 3],
  [procedure('Root canal, molar', 'major', 1_090), 3],
  [procedure('Root canal, front tooth', 'basic', 760), 2],
  [procedure('Bridge, three units', 'major', 3_240), 1],
]);

/** What is done or planned at a visit, by who gives it, with the usual fees. */
export function proceduresAt(role: StaffRole, person: Person, first: boolean, random: Random): Procedure[] {
  return role === 'hygienist' ? hygiene(person, first, random) : treatment(person, first, random);
}

function hygiene({ age }: Person, first: boolean, random: Random): Procedure[] {
  if (age < 14) return [CHILD_CLEANING, FLUORIDE, first ? FIRST_EXAM : PERIODIC_EXAM];
  if (age > 35 && random.chance(0.08)) return [ROOT_PLANING, ROOT_PLANING];
  if (first) return [ADULT_CLEANING, FIRST_EXAM, FULL_IMAGES];
  const exam = random.chance(0.6) ? [PERIODIC_EXAM] : [];
  return [ADULT_CLEANING, ...exam, ...(random.chance(0.35) ? [BITEWINGS] : [])];
}

function treatment({ age }: Person, first: boolean, random: Random): Procedure[] {
  const exams = first ? [FIRST_EXAM, BITEWINGS] : [];
  if (age >= 25 && random.chance(0.22)) return [...exams, random.weighted(ADULT_TREATMENTS)];
  const done = random.weighted(TREATMENTS);
  return [...exams, done, ...(random.chance(0.25) ? [random.weighted(TREATMENTS)] : [])];
}
