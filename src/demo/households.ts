import { ORIGINS, type Origin } from './names.ts';
import {
  type FamilyRole,
  type Home,
  makeHome,
  makePerson,
  type Person,
  repeatPerson,
  STATUSES,
  type Status,
} from './people.ts';
import { FIRST_ID, type Practice } from './practice.ts';
import { Random, weights } from './random.ts';

/** A family at one address: the head first, never empty. */
export interface Household {
  readonly index: number;
  readonly home: Home;
  readonly members: readonly [Person, ...Person[]];
}

type Member = readonly [role: FamilyRole, age: number];

/** The head first; each with an age in years. */
type Shape = [Member, ...Member[]];

const SHAPES = weights<(random: Random) => Shape>([
  [(random) => [['head', adultAge(random, 18, 92)]], 36],
  [(random) => withPartner(adultAge(random, 22, 88), random), 24],
  [(random) => withChildren(withPartner(adultAge(random, 27, 52), random), random), 26],
  [(random) => withChildren([['head', adultAge(random, 25, 50)]], random), 10],
  [(random) => withElder(adultAge(random, 36, 64), random), 4],
]);

const YOUNGEST = 3;

/** Every household of a practice in order, one at a time: memory does not grow with their number. */
export function* households(practice: Practice): Generator<Household> {
  let made = 0;
  for (let index = 0; made < practice.patients; index++) {
    const household = makeHousehold(practice, index, FIRST_ID.PatientV1 + made, practice.patients - made);
    made += household.members.length;
    yield household;
  }
}

function makeHousehold(practice: Practice, index: number, firstId: number, room: number): Household {
  const random = new Random(practice.seed, 1, index);
  const origin: Origin = random.weighted(ORIGINS);
  const home = makeHome(practice.locations, random.weighted(origin.languages), random);
  const setting = { today: practice.today, home, origin, random };
  const [[role, age], ...others] = random.weighted(SHAPES)(random);
  const usual = random.weighted(STATUSES);
  // Whoever is the guarantor of others is alive.
  const status = usual === 'DECEASED' && others.length > 0 ? 'INACTIVE' : usual;
  const head = makePerson(setting, { id: firstId, role, age, status }, null);
  const members: [Person, ...Person[]] = [head];
  for (const [role, age] of others.slice(0, room - 1)) {
    const member = { id: firstId + members.length, role, age, status: memberStatus(usual, random) };
    members.push(makePerson(setting, member, head));
  }
  if (members.length < room && random.chance(0.025)) {
    members.push(repeatPerson(random.pick(members), firstId + members.length));
  }
  return { index, home, members };
}

/** Families mostly come and go together. */
function memberStatus(usual: Status, random: Random): Status {
  if (random.chance(0.15)) return random.weighted(STATUSES);
  return usual === 'DECEASED' ? 'ACTIVE' : usual;
}

/** Ages cluster around the middle. */
function adultAge(random: Random, low: number, high: number): number {
  return Math.floor((random.between(low, high) + random.between(low, high)) / 2);
}

function withPartner(age: number, random: Random): Shape {
  const partner: Member = ['partner', Math.max(18, age + random.between(-6, 6))];
  return [['head', age], partner];
}

function withChildren(adults: Shape, random: Random): Shape {
  const younger = Math.min(...adults.map(([, age]) => age));
  const oldest = Math.max(YOUNGEST, Math.min(19, younger - 20));
  const ages = Array.from({ length: random.between(1, 3) }, () => random.between(YOUNGEST, oldest));
  return [...adults, ...ages.sort((a, b) => b - a).map((age): Member => ['child', age])];
}

function withElder(age: number, random: Random): Shape {
  const elder: Member = ['elder', Math.min(97, age + random.between(20, 32))];
  return [['head', age], elder];
}
