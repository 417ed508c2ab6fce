import type { EventRecord } from '../../../src/server/resources/eventdrafts.ts';
import { type Called, rowOf, rowsOf } from '../../support/calls.ts';
import { big, LOCATIONS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import type { TestService } from '../../support/service.ts';

/** Locations whose clocks differ, beside those of the practice. */
export const PLACES = { denver: LOCATIONS.home, london: big(1001), lordHowe: big(1002), saoPaulo: big(1003) } as const;

/** A practice without events. */
export function calendarRecords(): Readonly<Record<string, unknown>>[] {
  const place = (id: number, timezone: string) => line('Location', { id, name: timezone, timezone });
  return [
    ...bareRecords(),
    place(PLACES.london, 'Europe/London'),
    place(PLACES.lordHowe, 'Australia/Lord_Howe'),
    place(PLACES.saoPaulo, 'America/Sao_Paulo'),
  ];
}

export type Body = Readonly<Record<string, unknown>>;

/** A body that POST takes: Monday, 2026-03-02, 09:00 in Denver (16:00 UTC). */
export function meeting(changes: Body = {}): Body {
  return { title: 'Meeting', start: '2026-03-02T09:00', location: { id: PLACES.denver }, ...changes };
}

/** Every Monday of March 2026: the 2nd, 9th, 16th, 23rd and 30th. Denver's clocks go forward on the 8th. */
export const MONDAYS: Body = {
  recurrenceType: 'WEEKLY',
  recurrenceEnd: '2026-03-31',
  recurrenceFrequency: 1,
  recurrenceDays: ['MONDAY'],
};

export function post(service: TestService, body: unknown): Promise<Called> {
  return service.call('POST', '/events', { body });
}

export async function create(service: TestService, changes: Body = {}): Promise<EventRecord> {
  return recordOf(await post(service, meeting(changes)), 201);
}

export function put(service: TestService, id: number, body: Body, target = 'SERIES'): Promise<Called> {
  return service.call('PUT', `/events/${id}`, { body, query: { recurrenceTarget: target } });
}

export async function update(service: TestService, id: number, body: Body, target = 'SERIES'): Promise<EventRecord> {
  return recordOf(await put(service, id, body, target), 200);
}

export async function remove(service: TestService, id: number, target: string): Promise<void> {
  recordOf(await service.call('DELETE', `/events/${id}`, { query: { recurrenceTarget: target } }), 200);
}

function recordOf(called: Called, status: number): EventRecord {
  if (called.status !== status) throw new Error(`${called.status} ${called.text}`);
  return rowOf(called) as unknown as EventRecord;
}

export async function get(service: TestService, id: number): Promise<EventRecord> {
  return recordOf(await service.call('GET', `/events/${id}`), 200);
}

/** Every event, by id; of one group where it is named. */
export async function allEvents(service: TestService, groupId?: string | null): Promise<EventRecord[]> {
  const found: EventRecord[] = [];
  for (;;) {
    const query = { lastId: found.at(-1)?.id ?? 0, pageSize: 500, ...(groupId && { filter: `groupId=="${groupId}"` }) };
    const rows = rowsOf(await service.call('GET', '/events', { query })) as unknown as EventRecord[];
    if (rows.length === 0) return found;
    found.push(...rows);
  }
}

/** Starts as `MM-DDTHH:mm`, UTC. */
export function startsOf(events: readonly EventRecord[]): string[] {
  return events.map(({ start }) => start?.slice(5, 16) ?? '');
}

/** The 2nd, 9th, 16th, 23rd and 30th of March 2026, 09:00 in Denver. */
export const MONDAY_STARTS = ['03-02T16:00', '03-09T15:00', '03-16T15:00', '03-23T15:00', '03-30T15:00'] as const;

/** Everything but what each occurrence has of its own. */
export function shared({ id: _, start: __, end: ___, lastModified: ____, ...rest }: EventRecord): Body {
  return rest;
}

/** A series of five Mondays, 09:00 in Denver unless changed; the clock goes on behind them. */
export async function mondays(service: TestService, changes: Body = {}): Promise<EventRecord[]> {
  const first = await create(service, { ...MONDAYS, ...changes });
  service.clock.advance(1000);
  return allEvents(service, first.groupId);
}

/** The events with these ids as they are now, undefined for those that are gone. */
export async function eventsNow(
  service: TestService,
  events: readonly EventRecord[],
): Promise<(EventRecord | undefined)[]> {
  const all = new Map((await allEvents(service)).map((event) => [event.id, event]));
  return events.map(({ id }) => all.get(id));
}

/** Events that some work added. */
export async function addedBy(service: TestService, work: () => Promise<unknown>): Promise<EventRecord[]> {
  const before = new Set((await allEvents(service)).map(({ id }) => id));
  await work();
  return (await allEvents(service)).filter(({ id }) => !before.has(id));
}
