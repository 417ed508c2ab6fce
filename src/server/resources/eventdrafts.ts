import type { Problem } from '../../catalog/failures.ts';
import type { RecordOf } from '../../catalog/record.ts';
import type { eventFields } from '../../catalog/resources/events.ts';
import type { OperationRequest } from '../service.ts';
import type { StoredRecord } from '../store/records.ts';
import type { Draft } from './behaviour.ts';

/** A calendar event as it is stored and emitted. */
export type EventRecord = RecordOf<typeof eventFields> & { id: number };

/** Canonical values that a body gave. */
export type EventValues = Partial<Omit<EventRecord, 'id'>>;

export interface EventDraft extends Draft {
  readonly before: EventRecord | undefined;
  readonly after: EventRecord;
  readonly unread: ReadonlySet<string>;
}

/** What a body asks for: its values, the problems of reading it, and the names whose values could not be read. */
export interface EventBody {
  readonly values: EventValues;
  readonly problems: readonly Problem[];
  readonly unread: ReadonlySet<string>;
}

export function eventDraft(
  { organization, actor, service }: OperationRequest,
  after: EventRecord,
  body: EventBody,
  was: { readonly before: EventRecord | undefined; readonly row: StoredRecord | undefined },
): EventDraft {
  const given = new Set(Object.keys(body.values));
  return { organization, actor, service, ...was, after, given, unread: body.unread, problems: [...body.problems] };
}
