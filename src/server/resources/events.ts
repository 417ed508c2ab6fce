import { asId } from '../../catalog/fields/numbers.ts';
import { events } from '../../catalog/resources/events.ts';
import { zoneOfLocation } from '../references.ts';
import type { OperationRequest } from '../service.ts';
import { findRecord } from '../store/records.ts';
import type { Behaviour } from './behaviour.ts';
import type { EventRecord } from './eventdrafts.ts';
import { fillEvent, yearProblem } from './eventdrafts.ts';

/** Calendar events (D39): writes have handlers of their own; what is here is for imports and for them alike. */
export const eventBehaviour: Behaviour = {
  resource: events,
  zone: zoneOfRequest,
  check({ after, imported, problems }) {
    if (imported === undefined) return;
    for (const name of ['title', 'start', 'location']) {
      if (after[name] !== null) continue;
      problems.push({ code: 'field.missing', source: name, description: `${name} is required.` });
    }
  },
  async complete(_read, { after, imported, problems }) {
    // Occurrences come one by one and as they are; what the API would move or make of them stays undone.
    if (imported === undefined) return;
    const event = after as unknown as EventRecord;
    if (!durationFromEnd(event)) {
      const description = 'end must be 5 to 1440 whole minutes after start when there is no duration.';
      problems.push({ code: 'field.range', source: 'end', description });
    }
    fillEvent(event);
    const tooLate = yearProblem(event, 'start');
    if (tooLate !== undefined) problems.push(tooLate);
  },
};

/** An import line may tell the end in place of the duration; false when it is none that an event can have. */
function durationFromEnd(event: EventRecord): boolean {
  const { start, end } = event;
  if (event.duration !== null || start === null || end === null) return true;
  event.duration = (Date.parse(end) - Date.parse(start)) / 60_000;
  return Number.isInteger(event.duration) && event.duration >= 5 && event.duration <= 1440;
}

/** Local times stand in the zone of the event's location: the one sent with a new event, else the stored one (D7). */
async function zoneOfRequest({ body, organization, pathId, service }: OperationRequest): Promise<string | undefined> {
  const { read } = service.store;
  const sent = asId((body as { location?: { id?: unknown } | null } | null)?.location?.id);
  if (pathId === undefined) return zoneOfLocation(read, organization, sent);
  const row = await findRecord(read, organization, events, asId(pathId) ?? 0);
  return row && zoneOfLocation(read, organization, (JSON.parse(row.json) as EventRecord).location?.id);
}
