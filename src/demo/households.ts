import { makeHome } from './homes.ts';
import { FIRST_ID } from './ids.ts';
import { ORIGINS } from './names.ts';
import type { Household, Person, Role, Status } from './people.ts';
import { makePerson, repeatPerson, type Setting } from './persons.ts';
import type { Practice } from './practice.ts';
import { Random, weights } from './random.ts';

/** The head first; each with an age in whole years. */
type Shape = [Member, ...Member[]];
type Member = readonly [role: Role, age: number];

const SHAPES = weights<(random: Random) => Shape>([
  [(random) => [['head', adultAge(random, 18, 92)]], 36],
  [(random) => withPartner(adultAge(random, 22, 88), random), 24],
  [(random) => withChildren(withPartner(adultAge(random, 27, 52), random), random), 26],
  [(random) => withChildren([['head', adultAge(random, 25, 50)]], random), 10],
  [(random) => withElder(adultAge(random, 36, 64), random), 4],
]);

const STATUSES = weights<Status>([
  ['ACTIVE', 74],
  ['INACTIVE', 17],
  ['NEW', 4],
  ['NON-PATIENT', 2.5],
  ['DECEASED', 1.5],
  ['DISMISSED', 1],
]);

const YOUNGEST = 3;

/** Every household of a practice in order, made one at a time; nothing of an earlier one is kept. */
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
  const origin = random.weighted(ORIGINS);
  const home = makeHome(practice.locations, random.weighted(origin.languages), random);
  const setting: Setting = { today: practice.today, home, origin, random };
  const shape = random.weighted(SHAPES)(random);
  const usual = random.weighted(STATUSES);
  const [, headAge] = shape[0];
  const head = makePerson(setting, firstId, 'head', headAge, headStatus(usual, shape.length), null);
  const members: [Person, ...Person[]] = [head];
  for (let place = 1; place < shape.length && place < room; place++) {
    const [role, age] = shape[place] as Member;
    members.push(makePerson(setting, firstId + place, role, age, memberStatus(usual, random), head));
  }
  if (members.length < room && random.chance(0.025)) {
    members.push(repeatPerson(random.pick(members), firstId + members.length));
  }
  return { index, home, members };
}

/** Whoever answers for others is alive. */
function headStatus(usual: Status, members: number): Status {
  return usual === 'DECEASED' && members > 1 ? 'INACTIVE' : usual;
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
  return [
    ['head', age],
    ['partner', Math.max(18, age + random.between(-6, 6))],
  ];
}

function withChildren(adults: Shape, random: Random): Shape {
  const younger = Math.min(...adults.map(([, age]) => age));
  const oldest = Math.max(YOUNGEST, Math.min(19, younger - 20));
  const ages = Array.from({ length: random.between(1, 3) }, () => random.between(YOUNGEST, oldest)).sort(
    (a, b) => b - a,
  );
  return [...adults, ...ages.map((age) => ['child', age] as const)];
}

function withElder(age: number, random: Random): Shape {
  return [
    ['head', age],
    ['elder', Math.min(97, age + random.between(20, 32))],
  ];
}
