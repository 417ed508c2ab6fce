import {
  boolean,
  day,
  idOf,
  instant,
  integer,
  link,
  listOf,
  matching,
  oneOf,
  orNull,
  type Reader,
  string,
} from './bodies.ts';
import type { World } from './call.ts';
import { DAYS, WEEKS } from './practice/words.ts';
import { decline, refuse } from './refusal.ts';
import type { Fields } from './store.ts';
import { addDays, dayOf, instantOf } from './zones.ts';

const MINUTE = 60_000;
const TWO_YEARS = 731;

/** Fields of an event that can be written. */
export const EVENT_FIELDS: Readonly<Record<string, Reader>> = {
  title: string(1, 60),
  description: orNull(string()),
  start: instant,
  duration: integer(5, 1440),
  allDay: boolean,
  color: matching(/^[0-9a-fA-F]{6}$/, '6 hex characters without #'),
  location: link,
  operatory: orNull(link),
  provider: orNull(link),
  recurrenceType: orNull(oneOf('WEEKLY', 'MONTHLY')),
  recurrenceStart: orNull(day),
  recurrenceEnd: orNull(day),
  recurrenceFrequency: orNull(integer(1, 52)),
  recurrenceDays: orNull(listOf(oneOf(...DAYS))),
  recurrenceWeek: orNull(oneOf(...WEEKS)),
  recurrenceDay: orNull(oneOf(...DAYS)),
};

const ALWAYS = ['recurrenceType', 'recurrenceStart', 'recurrenceEnd', 'recurrenceFrequency'];
const WEEKLY = ['recurrenceDays'];
const MONTHLY = ['recurrenceWeek', 'recurrenceDay'];

/** The recurrence in a body, or undefined for none; its properties come all together (Events, POST). */
export function recurrenceOf(sent: Fields): Fields | undefined {
  const given = [...ALWAYS, ...WEEKLY, ...MONTHLY].filter((name) => (sent[name] ?? null) !== null);
  if (given.length === 0) return undefined;
  const weekly = sent.recurrenceType === 'WEEKLY';
  const needed = [...ALWAYS, ...(weekly ? WEEKLY : MONTHLY)];
  const missing = needed.find((name) => !given.includes(name));
  if (missing) refuse(`${missing} is required: recurrence properties come all together.`);
  const foreign = given.find((name) => !needed.includes(name));
  if (foreign) refuse(`${foreign} is not one of a ${String(sent.recurrenceType)} recurrence.`);
  const from = String(sent.recurrenceStart);
  const to = String(sent.recurrenceEnd);
  if (to < from || to > addDays(from, TWO_YEARS)) refuse('recurrenceEnd is at most 2 years after recurrenceStart.');
  return Object.fromEntries(given.map((name) => [name, sent[name]]));
}

/** Start, end and duration of an event: a whole day of the location, or within one. */
export function timed(world: World, event: Fields): Fields {
  const zone = zoneAt(world, event);
  const start = Date.parse(String(event.start));
  if (event.allDay) return span(instantOf(dayOf(start, zone), 0, zone), 1439);
  const duration = Number(event.duration);
  const sameDay = dayOf(start, zone) === dayOf(start + duration * MINUTE, zone);
  return sameDay ? span(start, duration) : decline(400, 'The end is on another day than the start.');
}

export function zoneAt({ practice }: World, event: Fields): string {
  const location = idOf(event.location);
  return practice.locations.find(({ id }) => id === location)?.zone ?? practice.zone;
}

/** Declines an event at a location, in an operatory or of a provider that cannot be. */
export function checkPlaces({ practice }: World, event: Fields): void {
  const location = idOf(event.location);
  if (!practice.locations.some(({ id }) => id === location)) decline(400, `location.id ${location} is not known.`);
  const operatory = idOf(event.operatory);
  const room = practice.operatories.find(({ id }) => id === operatory);
  if (operatory !== undefined && room?.location !== location) decline(400, 'The operatory is not at the location.');
  const provider = idOf(event.provider);
  const person = practice.providers.find(({ id }) => id === provider);
  const fit = person?.isActive && !person.isNonPersonEntity;
  if (provider !== undefined && !fit) decline(400, 'The provider is not an active person.');
}

function span(start: number, duration: number): Fields {
  const end = new Date(start + duration * MINUTE).toISOString();
  return { start: new Date(start).toISOString(), end, duration };
}
