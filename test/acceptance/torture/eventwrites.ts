import type { Expected, Operation } from './operation.ts';
import { LOCATION } from './practice.ts';
import type { JsonRecord } from './state.ts';
import type { Writer } from './writer.ts';

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** A Monday. */
const FIRST_DAY = Date.parse('2030-01-07T00:00:00.000Z');

const instant = (ms: number) => new Date(ms).toISOString();
const dateOf = (ms: number) => instant(ms).slice(0, 10);

/** Starts of `count` occurrences that are a week apart; the practice's time is UTC, so no clock changes between them. */
function weekly(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, week) => instant(from + week * WEEK_MS));
}

export function createEvent(writer: Writer): Operation {
  const values = { title: writer.word('Event'), start: instant(startOf(writer)), location: { id: LOCATION } };
  return writer.post('events.create', '/events', values, {
    expected: [{ verb: 'create', table: 'events', has: { title: values.title, start: values.start, groupId: null } }],
    done: (record) => writer.keep('events', record),
  });
}

function startOf({ random }: Writer): number {
  return FIRST_DAY + random.below(20) * WEEK_MS + random.between(8, 17) * 60 * 60 * 1000;
}

export function createSeries(writer: Writer): Operation {
  const from = startOf(writer);
  const count = writer.random.between(2, 8);
  const values = {
    title: writer.word('Series'),
    start: instant(from),
    duration: 30,
    location: { id: LOCATION },
    recurrenceType: 'WEEKLY',
    recurrenceDays: ['MONDAY'],
    recurrenceFrequency: 1,
    recurrenceEnd: dateOf(from + (count - 1) * WEEK_MS),
  };
  return writer.post('events.create series', '/events', values, {
    expected: weekly(from, count).map((start): Expected => {
      return { verb: 'create', table: 'events', has: { start, title: values.title, duration: 30 } };
    }),
    done: (record) => writer.keep('events', record),
  });
}

/** An occurrence of a series, and those of the series that come after it. */
interface Chosen {
  readonly event: JsonRecord;
  readonly later: readonly JsonRecord[];
}

/** Takes a whole series away from what the writer works on: until everything is read again it does not know the ids of what comes of it. */
function takeOccurrence(writer: Writer): Chosen | undefined {
  const event = writer.any('events');
  if (event === undefined) return undefined;
  const series = writer
    .all('events')
    .filter(({ id, groupId }) => id === event.id || (groupId !== null && groupId === event.groupId))
    .sort((a, b) => (String(a.start) < String(b.start) ? -1 : 1));
  for (const { id } of series) writer.drop('events', id);
  return { event, later: series.slice(series.indexOf(event) + 1) };
}

export function updateEvent(writer: Writer): Operation | undefined {
  const chosen = takeOccurrence(writer);
  if (chosen === undefined) return undefined;
  const { event, later } = chosen;
  const target = writer.random.of(['OCCURRENCE', 'SERIES'] as const);
  const changes = { title: writer.word('Changed'), color: 'abcdef' };
  const changed = target === 'SERIES' ? [event, ...later] : [event];
  return writer.put(
    `events.update ${target.toLowerCase()}`,
    `/events/${event.id}?recurrenceTarget=${target}`,
    changes,
    {
      expected: changed.map(({ id }) => ({ verb: 'update', table: 'events', id, has: { title: changes.title } })),
      done: (record) => writer.keep('events', record),
    },
  );
}

/** Another end makes all later occurrences anew (D39). */
export function regenerateSeries(writer: Writer): Operation | undefined {
  const chosen = takeOccurrence(writer);
  if (chosen === undefined || chosen.event.groupId === null) return undefined;
  const { event, later } = chosen;
  const from = Date.parse(String(event.start));
  let count = writer.random.between(2, 8);
  if (dateOf(from + (count - 1) * WEEK_MS) === event.recurrenceEnd) count++;
  const recurrenceEnd = dateOf(from + (count - 1) * WEEK_MS);
  const path = `/events/${event.id}?recurrenceTarget=SERIES`;
  return writer.put(
    'events.update recurrence',
    path,
    // Days must come with every change of a recurrence.
    { recurrenceEnd, recurrenceDays: ['MONDAY'] },
    {
      expected: [
        { verb: 'update', table: 'events', id: event.id, has: { recurrenceEnd } },
        ...later.map(({ id }): Expected => ({ verb: 'delete', table: 'events', id })),
        ...weekly(from + WEEK_MS, count - 1).map((start): Expected => {
          return { verb: 'create', table: 'events', has: { start, title: event.title, recurrenceEnd } };
        }),
      ],
    },
  );
}

export function deleteEvent(writer: Writer): Operation | undefined {
  const chosen = takeOccurrence(writer);
  if (chosen === undefined) return undefined;
  const { event, later } = chosen;
  const target = writer.random.of(['OCCURRENCE', 'SERIES'] as const);
  const removed = target === 'SERIES' ? [event, ...later] : [event];
  return writer.delete(
    `events.delete ${target.toLowerCase()}`,
    `/events/${event.id}?recurrenceTarget=${target}`,
    removed.map(({ id }) => ({ verb: 'delete', table: 'events', id })),
  );
}
