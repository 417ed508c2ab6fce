import { utcStart } from './calendar.ts';
import type { Origin } from './names.ts';
import { phoneNumber, postalCode, STREET_KINDS, STREETS } from './places.ts';
import { type LocationPlan, PAST_DAYS } from './practice.ts';
import { type Random, weightedNames, weights } from './random.ts';
import type { Slot } from './schedule.ts';

/** What the members of a household have in common: language, address, landline (null for none), location and dentist. */
export type Home = ReturnType<typeof makeHome>;

/** Part in the household; a duplicate is a second record of another member. */
export type FamilyRole = 'head' | 'partner' | 'child' | 'elder' | 'duplicate';

/** The patient status of most people, by how many have it. */
export const STATUSES = weightedNames({
  ACTIVE: 74,
  INACTIVE: 17,
  NEW: 4,
  'NON-PATIENT': 2.5,
  DECEASED: 1.5,
  DISMISSED: 1,
});

/** Patient status on the wire. */
export type Status = (typeof STATUSES)['values'][number] | 'DUPLICATE';

/** A slot that a person has or had, and how it went. */
export interface Visit {
  readonly slot: Slot;
  readonly status: string;
}

/** One person; the members of a household have consecutive ids and the first is the guarantor of all. */
export interface Person {
  readonly id: number;
  readonly role: FamilyRole;
  /** In years, at least 3, so that every visit of the last two years is after the first birthday. */
  readonly age: number;
  readonly status: Status;
  readonly firstName: string;
  readonly lastName: string;
  readonly gender: 'M' | 'F' | 'O';
  readonly birthDay: number;
  /** The person whose record this one repeats. */
  readonly original: Person | null;
  /** UTC milliseconds of the first completed visit; null when there was none. */
  readonly firstVisit: number | null;
  /** Visits of the last two years and of the coming months, ascending. */
  readonly visits: readonly Visit[];
}

const NAME_LIMIT = 25;

/** How long before the ledger starts a first visit may lie, in days. */
const OLDEST_FIRST_VISIT = 2_900;

const VISIT_COUNTS = weights([8, 14, 24, 28, 18, 8].map((share, count) => [count, share]));

const OUTCOMES = weightedNames({
  COMPLETED: 86,
  NO_SHOW: 4,
  BROKEN: 5,
  CANCELLEDBYOFFICE: 2,
  WILL_CALL: 2,
  UNREACHABLE: 1,
});

const AHEAD = weightedNames({
  CONFIRMED: 45,
  UNCONFIRMED: 38,
  LEFT_MESSAGE: 9,
  UNREACHABLE: 3,
  WILL_CALL: 3,
  BROKEN: 2,
});

/** Status of the visits of this morning: the practice is seen at noon. */
const TODAY = ['COMPLETED', 'CHECKOUT', 'CHAIR', 'READY', 'HERE', 'LATE'];

/** How often people of other statuses than ACTIVE came once in the last two years. */
const ONCE: Readonly<Partial<Record<Status, number>>> = { INACTIVE: 0.3, DISMISSED: 0.6, DECEASED: 0.2 };

/** How often the next visit is within two weeks, and how often there is one at all. */
const NEXT: Readonly<Partial<Record<Status, readonly [soon: number, ever: number]>>> = {
  NEW: [0.3, 0.8],
  ACTIVE: [0.07, 0.3],
};

/** Where a household lives, near one of the locations. */
export function makeHome(locations: readonly LocationPlan[], language: string, random: Random) {
  const location = random.pick(locations);
  const { town } = location;
  const number = random.between(1, 9_899);
  const address2 = random.chance(0.22)
    ? `${random.pick(['Apt', 'Unit', 'Suite', '#'])} ${random.between(1, 60)}`
    : null;
  return {
    location,
    provider: random.pick(location.providers.filter(({ role }) => role === 'dentist')),
    language,
    address1: `${number} ${random.pick(STREETS)} ${random.pick(STREET_KINDS)}`,
    address2,
    postalCode: postalCode(town, random),
    phone: random.chance(0.55) ? phoneNumber(town, random) : null,
  };
}

/** Makes one person with the visits they had and have; `head` is null for the head itself. */
export function makePerson(
  { today, home, origin, random }: { today: number; home: Home; origin: Origin; random: Random },
  { id, role, age, status }: Pick<Person, 'id' | 'role' | 'age' | 'status'>,
  head: Person | null,
): Person {
  const gender = genderOf(role, head, random);
  const feminine = gender === 'F' || (gender === 'O' && random.chance(0.5));
  const firstName = random.pick(feminine ? origin.female : origin.male);
  const lastName = lastNameOf(role, head, origin, random);
  const birthDay = today - Math.floor(age * 365.25) - random.below(365) - 1;
  const earliest = Math.max(birthDay + 365, today - PAST_DAYS - OLDEST_FIRST_VISIT);
  const latest = today - PAST_DAYS - 1;
  const joined = earliest > latest || random.chance(0.25);
  const visits = planVisits(status, joined, home.location, today, random);
  const settled = !joined && status !== 'NEW' && status !== 'NON-PATIENT';
  // 17:00 to 21:30 UTC is daytime in every zone of the practice.
  const old = settled ? utcStart(random.between(earliest, latest)) + (1_020 + 30 * random.below(10)) * 60_000 : null;
  const firstVisit = old ?? firstCompleted(visits, home, today);
  return { id, role, age, status, firstName, lastName, gender, birthDay, original: null, firstVisit, visits };
}

/** A second record of somebody, made by mistake. */
export function repeatPerson(original: Person, id: number): Person {
  return { ...original, id, role: 'duplicate', status: 'DUPLICATE', original, firstVisit: null, visits: [] };
}

function firstCompleted(visits: readonly Visit[], { location: { clock } }: Home, today: number): number | null {
  const first = visits.find(({ slot, status }) => status === 'COMPLETED' && slot.day < today);
  return first === undefined ? null : clock.at(first.slot.day, first.slot.start);
}

function genderOf(role: FamilyRole, head: Person | null, random: Random): Person['gender'] {
  const at = random.next();
  if (role === 'partner' && head !== null && head.gender !== 'O') return at < 0.9 === (head.gender === 'F') ? 'M' : 'F';
  return at < 0.5 ? 'F' : at < 0.98 ? 'M' : 'O';
}

function lastNameOf(role: FamilyRole, head: Person | null, origin: Origin, random: Random): string {
  const own = random.pick(origin.last);
  if (head === null) return random.chance(0.04) ? joinedName(own, random.pick(origin.last)) : own;
  if (role === 'child' && random.chance(0.06)) return joinedName(head.lastName, own);
  const shares = random.chance(role === 'child' ? 0.95 : role === 'partner' ? 0.75 : 0.5);
  return shares ? head.lastName : own;
}

function joinedName(first: string, second: string): string {
  const both = `${first}-${second}`;
  return both.length <= NAME_LIMIT ? both : first;
}

/** Visits of one person, ascending. Who `joined` in the last two years did so by completing the first of them. */
function planVisits(status: Status, joined: boolean, location: LocationPlan, today: number, random: Random): Visit[] {
  const visits = pastSlots(status, location, random).map((slot, index) => ({
    slot,
    status: joined && index === 0 ? 'COMPLETED' : random.weighted(OUTCOMES),
  }));
  const at = random.next();
  const [soon, ever] = NEXT[status] ?? [0, 0];
  const slot = at < soon ? location.soon.take() : at < ever ? location.later.take() : undefined;
  if (slot === undefined) return visits;
  const begun = slot.day === today && slot.start < location.hours.afternoon;
  return [...visits, { slot, status: begun ? random.pick(TODAY) : random.weighted(AHEAD) }];
}

function pastSlots(status: Status, location: LocationPlan, random: Random): Slot[] {
  const once = random.chance(ONCE[status] ?? 0) ? 1 : 0;
  const count = status === 'ACTIVE' ? random.weighted(VISIT_COUNTS) : once;
  const slots = Array.from({ length: count }, () => location.past.take()).filter((slot) => slot !== undefined);
  return slots.sort((a, b) => a.day - b.day || a.start - b.start);
}
