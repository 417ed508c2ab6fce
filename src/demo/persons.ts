import { utcStart } from './calendar.ts';
import type { Origin } from './names.ts';
import type { Gender, Home, Person, Role, Status } from './people.ts';
import type { Random } from './random.ts';
import { PAST_DAYS } from './sizes.ts';
import { planVisits } from './visits.ts';

const NAME_LIMIT = 25;

/** How long before the ledger starts a first visit may lie, in days. */
const OLDEST_FIRST_VISIT = 2_900;

/** What the members of a household are made with. */
export interface Setting {
  readonly today: number;
  readonly home: Home;
  readonly origin: Origin;
  readonly random: Random;
}

/** Makes one person with the visits they had and have; `head` is null for the head itself. */
export function makePerson(
  setting: Setting,
  id: number,
  role: Role,
  age: number,
  status: Status,
  head: Person | null,
): Person {
  const { today, home, origin, random } = setting;
  const gender = genderOf(role, head, random);
  const feminine = gender === 'F' || (gender === 'O' && random.chance(0.5));
  const firstName = random.pick(feminine ? origin.female : origin.male);
  const family = lastName(role, head, origin, random);
  const birthDay = today - Math.floor(age * 365.25) - random.below(365) - 1;
  const earliest = Math.max(birthDay + 365, today - PAST_DAYS - OLDEST_FIRST_VISIT);
  const latest = today - PAST_DAYS - 1;
  const joined = earliest > latest || random.chance(0.25);
  const visits = planVisits(status, joined, home.location, today, random);
  const settled = !joined && status !== 'NEW' && status !== 'NON-PATIENT';
  // 17:00 to 21:30 UTC is daytime in every zone of the practice.
  const old = settled ? utcStart(random.between(earliest, latest)) + (1_020 + 30 * random.below(10)) * 60_000 : null;
  return {
    id,
    role,
    firstName,
    lastName: family,
    gender,
    age,
    birthDay,
    status,
    original: null,
    firstVisit: old ?? firstKept(visits, home, today),
    visits,
  };
}

/** A second record of somebody, made by mistake. */
export function repeatPerson(original: Person, id: number): Person {
  return { ...original, id, role: 'duplicate', status: 'DUPLICATE', original, firstVisit: null, visits: [] };
}

function firstKept(visits: Person['visits'], { location: { clock } }: Home, today: number): number | null {
  const kept = visits.find(({ slot, status }) => status === 'COMPLETED' && slot.day < today);
  return kept === undefined ? null : clock.at(kept.slot.day, kept.slot.start);
}

function genderOf(role: Role, head: Person | null, random: Random): Gender {
  const at = random.next();
  if (role === 'partner' && head !== null && head.gender !== 'O') return at < 0.9 === (head.gender === 'F') ? 'M' : 'F';
  return at < 0.5 ? 'F' : at < 0.98 ? 'M' : 'O';
}

function lastName(role: Role, head: Person | null, origin: Origin, random: Random): string {
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
