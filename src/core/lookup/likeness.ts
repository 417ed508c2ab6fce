import type { Fields } from '../../catalog/fields/kind.ts';
import { isPlainObject, type Kind } from '../../catalog/fields/kind.ts';
import { parseInstant, utcMilliseconds } from '../../catalog/fields/times.ts';
import { digitsOf, foldText } from '../../catalog/filter/values.ts';
import { isWritable } from '../../catalog/record.ts';

/** Whether a stored value means what was sent. `unsure`: it may, like a time without a zone. */
export type Likeness = 'same' | 'unsure' | 'other';

/** The likeness of each field that was sent, by its name. */
export type Likenesses = Readonly<Record<string, Likeness>>;

type Values = Readonly<Record<string, unknown>>;

/**
 * Compares a stored record with what was sent, by meaning (D49): instants whatever their zone, ids as text, letters in
 * any case, phone numbers by their digits, lists of names in any order. Nothing sent, a field that is not returned, or
 * one that the service added is no difference.
 */
export function likenesses(fields: Fields, sent: Values, stored: Values): Likenesses {
  const each = Object.entries(sent).map(([name, value]): [string, Likeness] => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || !isWritable(field, 'create') || stored[name] === undefined) return [name, 'same'];
    return [name, compare(field.kind, value, stored[name])];
  });
  return Object.fromEntries(each);
}

/** The likeness of several values: that of the least sure one. */
export function together(each: readonly Likeness[]): Likeness {
  if (each.includes('other')) return 'other';
  return each.includes('unsure') ? 'unsure' : 'same';
}

/** Null, undefined, blank text and an empty list are the same (D19 is our server's own). */
export function isNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function compare(kind: Kind, sent: unknown, stored: unknown): Likeness {
  if (isNothing(sent)) return 'same';
  // A missing value means no.
  if (kind.name === 'yesNo') return alike(String(sent) === String(stored ?? false));
  if (isNothing(stored)) return 'other';
  if (kind.name === 'dateTime') return instants(String(sent), String(stored));
  if (kind.name === 'date') return alike(String(sent).trim().slice(0, DATE) === String(stored).trim().slice(0, DATE));
  if (kind.name === 'list') return lists(kind.item, sent, stored);
  if (kind.fields !== undefined && isPlainObject(sent))
    return isPlainObject(stored) ? together(Object.values(likenesses(kind.fields, sent, stored))) : 'other';
  if (IDS.includes(kind.name)) return alike(idText(sent) === idText(stored));
  if (NUMBERS.includes(kind.name)) return alike(Math.abs(Number(sent) - Number(stored)) < CENT / 2);
  if (isPlainObject(sent) || isPlainObject(stored)) return alike(JSON.stringify(sent) === JSON.stringify(stored));
  return alike(kind.values === undefined ? isSameText(String(sent), String(stored)) : word(sent) === word(stored));
}

const DATE = 'YYYY-MM-DD'.length;
const IDS: readonly string[] = ['id', 'link', 'organizationLink'];
const NUMBERS: readonly string[] = ['integer', 'number', 'dollars'];
const CENT = 0.01;

function alike(isSame: boolean): Likeness {
  return isSame ? 'same' : 'other';
}

/** Lists as sets: each entry sent has one that means the same, and there are no further ones. */
function lists(item: Kind | undefined, sent: unknown, stored: unknown): Likeness {
  if (item === undefined || !Array.isArray(sent) || !Array.isArray(stored)) return 'other';
  const inEach = (these: readonly unknown[], those: readonly unknown[], like: typeof compare) =>
    together(
      these.map((one) => {
        const each = those.map((other) => like(item, one, other));
        return each.find((found) => found === 'same') ?? each.find((found) => found === 'unsure') ?? 'other';
      }),
    );
  return together([
    inEach(sent, stored, compare),
    inEach(stored, sent, (kind, there, here) => compare(kind, here, there)),
  ]);
}

/** An id, or a link to it, as text (D1). */
function idText(value: unknown): string {
  const id = String(isPlainObject(value) ? value.id : value).trim();
  return /^0*\d+$/.test(id) ? id.replace(/^0+(?=\d)/, '') : id;
}

/** A listed value by its letters and digits: `Email me` and `EMAIL_ME` are one. */
function word(value: unknown): string {
  return foldText(String(value)).replace(/[^\p{L}\p{N}]/gu, '');
}

/** Text in any letter case and spacing; phone numbers by their digits without the country code of the USA. */
function isSameText(sent: string, stored: string): boolean {
  const folded = (text: string) => foldText(text).trim().replace(/\s+/g, ' ');
  if (folded(sent) === folded(stored)) return true;
  const [one, other] = [sent, stored].map((text) =>
    PHONE.test(text) ? digitsOf(text).replace(/^1(?=\d{10}$)/, '') : '',
  );
  return one !== '' && one === other;
}

const PHONE = /^[\s\d+().\-/]*$/;

/** Instants that differ by less are the same: not every service stores milliseconds. */
const SECOND = 1000;
/** Not every service stores seconds: instants that differ by less may be the same. */
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Zones lie within these hours of UTC, at quarters of an hour. */
const EARLIEST_ZONE = -12 * HOUR;
const LATEST_ZONE = 14 * HOUR;
const ZONE_STEP = HOUR / 4;

function instants(sent: string, stored: string): Likeness {
  const [one, other] = [instantOf(sent), instantOf(stored)];
  if (one !== undefined && other !== undefined) return apart(one - other);
  const [here, there] = [wallClockOf(sent), wallClockOf(stored)];
  if (here === undefined || there === undefined) return alike(sent.trim() === stored.trim());
  const byWallClock = apart(here - there);
  if (byWallClock === 'same' || (one === undefined && other === undefined)) return byWallClock;
  const offset = one === undefined ? here - (other ?? 0) : there - one;
  const fromStep = Math.abs(offset - Math.round(offset / ZONE_STEP) * ZONE_STEP);
  return offset >= EARLIEST_ZONE && offset <= LATEST_ZONE && fromStep < MINUTE ? 'unsure' : 'other';
}

function apart(milliseconds: number): Likeness {
  const distance = Math.abs(milliseconds);
  if (distance < SECOND) return 'same';
  return distance < MINUTE ? 'unsure' : 'other';
}

/** UTC milliseconds of a date-time that has a zone, undefined for any other text. */
export function instantOf(text: string): number | undefined {
  const instant = parseInstant(text.trim(), {});
  return typeof instant === 'number' ? instant : undefined;
}

/** The wall-clock time of a date-time, as the milliseconds that this time has in UTC. */
export function wallClockOf(text: string): number | undefined {
  const wall = text.trim().replace(/(?:Z|[+-]\d{2}:?\d{2})$/i, '');
  const instant = parseInstant(wall, { instantOf: utcMilliseconds });
  return typeof instant === 'number' ? instant : undefined;
}

/** Fields that no service adds: an event that has one which was not sent is another one. */
const NEVER_ADDED = ['operatory', 'provider', 'recurrenceType'];

/**
 * Compares a stored calendar event with what was sent, as `likenesses` does. The service moves the start of an all-day
 * event to midnight, and that of a series to its first day (specification, Endpoints, Events; D39).
 */
export function eventLikenesses(fields: Fields, sent: Values, stored: Values): Likenesses {
  const added = NEVER_ADDED.filter((name) => isNothing(sent[name]) && !isNothing(stored[name]));
  const others = Object.fromEntries(added.map((name) => [name, 'other' as const]));
  const isAllDay = sent.allDay === true;
  if (!isAllDay && isNothing(sent.recurrenceType)) return { ...likenesses(fields, sent, stored), ...others };
  const { start: _, ...rest } = sent;
  const { duration: __, ...lasting } = rest;
  const start = startLikeness(sent, stored, isAllDay);
  return { ...likenesses(fields, isAllDay ? lasting : rest, stored), start, ...others };
}

function startLikeness(sent: Values, stored: Values, isAllDay: boolean): Likeness {
  if (isNothing(stored.start)) return 'same';
  const exact = instantOf(String(sent.start));
  const there = instantOf(String(stored.start));
  if (exact === undefined || there === undefined) return nearby(sent, stored);
  // Midnight before the start that was sent.
  if (isNothing(sent.recurrenceType)) return there <= exact && exact - there < DAY ? 'same' : 'other';
  const first = Math.min(exact, wallClockOf(`${sent.recurrenceStart}T00:00`) ?? exact);
  if (there < first - DAY) return 'other';
  if (isAllDay) return 'same';
  // Occurrences have the same wall-clock time, which moves by an hour when the clocks change.
  const shift = (((there - exact) % DAY) + DAY) % DAY;
  return Math.min(shift, DAY - shift) <= HOUR ? 'same' : 'other';
}

/** A start without a zone differs surely only from one that is days away. */
function nearby(sent: Values, stored: Values): Likeness {
  const [here, there] = [wallClockOf(String(sent.start)), wallClockOf(String(stored.start))];
  if (here === undefined || there === undefined || !isNothing(sent.recurrenceType)) return 'unsure';
  return Math.abs(here - there) < 2 * DAY ? 'unsure' : 'other';
}
