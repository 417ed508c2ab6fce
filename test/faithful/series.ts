import { change, create, type World } from './call.ts';
import { timed, zoneAt } from './events.ts';
import { DAYS, WEEKS } from './practice/words.ts';
import { decline } from './refusal.ts';
import type { Fields, Stored } from './store.ts';
import { addDays, instantOf, minuteOf } from './zones.ts';

/** Stores an event for each day of a recurrence; gives the first one. */
export function addSeries(world: World, event: Fields): Fields {
  const groupId = `group-${world.clock()}-${world.draws.whole(1e6, 9e6)}`;
  const [first, ...more] = occurrences(world, { ...event, groupId });
  if (!first) return decline(400, 'The recurrence has no day.');
  const { record } = create(world, 'events', first);
  for (const other of more) create(world, 'events', other);
  return record;
}

/** Replaces an event and those that follow it in its series by the days of another recurrence. */
export function reshape(world: World, stored: Stored, event: Fields): void {
  const groupId = event.groupId ?? `group-${stored.id}`;
  const [first, ...more] = occurrences(world, { ...event, groupId });
  for (const old of followingOf(world, stored)) world.practice.shelves.events.remove(old.id);
  change(world, 'events', stored, { ...(first ?? event), id: stored.id });
  for (const other of more) create(world, 'events', other);
}

/** Gives the events that follow one in its series what was changed of it; a new time moves each by as much. */
export function shiftSeries(world: World, stored: Stored, sent: Fields, event: Fields): void {
  const moved = Date.parse(String(event.start)) - Date.parse(String(stored.record.start));
  const { start, ...rest } = sent;
  for (const other of followingOf(world, stored)) {
    if (other.id === stored.id) continue;
    const at = new Date(Date.parse(String(other.record.start)) + moved).toISOString();
    const wanted = { ...other.record, ...rest, start: at };
    change(world, 'events', other, { ...wanted, ...timed(world, wanted), lastModified: event.lastModified });
  }
}

/** An event and all later ones of its series. */
export function followingOf({ practice }: World, { id, record }: Stored): Stored[] {
  return practice.shelves.events
    .all()
    .filter(
      (other) =>
        other.id === id ||
        (record.groupId !== null &&
          other.record.groupId === record.groupId &&
          String(other.record.start) > String(record.start)),
    );
}

function occurrences(world: World, { id, ...event }: Fields): Fields[] {
  const zone = zoneAt(world, event);
  const minute = minuteOf(Date.parse(String(event.start)), zone);
  return daysOf(event).map((day) => {
    const start = new Date(instantOf(day, minute, zone)).toISOString();
    return { ...event, ...timed(world, { ...event, start }) };
  });
}

function daysOf(event: Fields): string[] {
  const from = String(event.recurrenceStart);
  const days: string[] = [];
  for (let day = from; day <= String(event.recurrenceEnd); day = addDays(day, 1)) {
    if (event.recurrenceType === 'WEEKLY' ? isWeekly(event, from, day) : isMonthly(event, from, day)) days.push(day);
  }
  return days;
}

function isWeekly(event: Fields, from: string, day: string): boolean {
  const sunday = addDays(from, -weekday(from));
  const week = Math.floor((Date.parse(day) - Date.parse(sunday)) / (7 * 86_400_000));
  const named = DAYS[weekday(day)] as string;
  return week % Number(event.recurrenceFrequency) === 0 && (event.recurrenceDays as string[]).includes(named);
}

function isMonthly(event: Fields, from: string, day: string): boolean {
  const month = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7));
  if ((month(day) - month(from)) % Number(event.recurrenceFrequency) !== 0) return false;
  if (DAYS[weekday(day)] !== event.recurrenceDay) return false;
  const ofMonth = Number(day.slice(8));
  return event.recurrenceWeek === 'LAST'
    ? month(addDays(day, 7)) !== month(day)
    : Math.ceil(ofMonth / 7) === WEEKS.indexOf(event.recurrenceWeek as never) + 1;
}

function weekday(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay();
}
