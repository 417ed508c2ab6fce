import { isDeepStrictEqual } from 'node:util';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { recurrenceOf, recurs } from '../../catalog/recurrence/fields.ts';
import { events } from '../../catalog/resources/events.ts';
import { nowOf } from '../clock.ts';
import { auditUnchanged, recordChange, settle, storeDraft } from '../engine/writing.ts';
import { checkLinks, linksOf, referenceRecord } from '../references.ts';
import { blankRecord } from '../rendering.ts';
import { notFound } from '../requests.ts';
import type { OperationRequest } from '../service.ts';
import type { Reach } from '../store/reach.ts';
import { findRecord, removeRecord } from '../store/records.ts';
import type { Reader, Transaction } from '../store/store.ts';
import type { ZoneClock } from '../wallclock.ts';
import {
  type EventBody,
  type EventDraft,
  type EventRecord,
  eventDraft,
  fillEvent,
  settleTimes,
  timesProblem,
} from './eventdrafts.ts';
import { eventBehaviour } from './events.ts';
import {
  changedRecurrence,
  dateOf,
  followTarget,
  hasEarlierOccurrence,
  laterOccurrences,
  mergedRecurrence,
  occurrenceProblems,
  spread,
} from './eventseries.ts';

export type RecurrenceTarget = 'SERIES' | 'OCCURRENCE';

/** Everything that one request writes: the event it names and the occurrences that go with it. */
interface EventPlan {
  readonly target: EventDraft;
  /** Later occurrences that follow a change. */
  readonly changed: readonly EventDraft[];
  readonly removed: readonly EventRecord[];
  /** Starts of new occurrences. */
  readonly added: readonly string[];
}

const NOTHING_ELSE = { changed: [], removed: [], added: [] } as const;

/** A new event, or the first of a new series and all others (D39). Throws a Refusal with every problem. */
export async function planCreation(
  read: Reader,
  request: OperationRequest,
  id: number,
  body: EventBody,
  clock: ZoneClock,
): Promise<EventPlan> {
  const blank = { ...(blankRecord(events) as EventRecord), id };
  const target = eventDraft(request, { ...blank, ...body.values }, body, { before: undefined, row: undefined });
  const { after } = target;
  settleTimes(target, clock);
  if (recurs(after) && after.start !== null) after.recurrenceStart ??= dateOf(after, clock);
  const added = spread(target, clock);
  await settleEvent(read, target);
  return { ...NOTHING_ELSE, target, added };
}

/**
 * A changed event with what that does to its series (D39). Throws a Refusal with every problem; a body that is wrong
 * is reported before a record that is missing (D2).
 */
export async function planUpdate(
  read: Reader,
  request: OperationRequest,
  id: number,
  body: EventBody,
  recurrenceTarget: RecurrenceTarget | undefined,
  clock: ZoneClock,
): Promise<EventPlan> {
  const { org } = request.organization;
  const row = await findRecord(read, request.organization, events, id);
  if (row === undefined) return refuseMissing(read, request.organization, id, body);
  const before = JSON.parse(row.json) as EventRecord;
  // A start that is cleared is refused already; the times are judged by the one there is.
  const start = body.values.start ?? before.start;
  const after = { ...before, ...body.values, ...recurrenceOf(before), start };
  const target = { ...eventDraft(request, after, body, { before, row }), before };
  settleTimes(target, clock);
  const names = changedRecurrence(before, body.values);
  const later = recurrenceTarget === 'OCCURRENCE' ? [] : await laterOccurrences(read, org, before);
  let plan: EventPlan = { ...NOTHING_ELSE, target };
  if (recurrenceTarget !== 'OCCURRENCE' && names.length > 0) {
    Object.assign(after, mergedRecurrence(before, body.values, dateOf(after, clock)), { groupId: null });
    // Earlier occurrences stay, so none is made beside them.
    const from = (await hasEarlierOccurrence(read, org, before)) ? dateOf(after, clock) : undefined;
    plan = { ...plan, removed: later, added: spread(target, clock, from) };
  } else {
    const changed = later.map((occurrence) => followTarget(target, occurrence, body.values, clock));
    const late = [timesProblem(target, clock), ...changed.flatMap(({ problems }) => problems)];
    target.problems.push(...occurrenceProblems(names), ...late.filter((problem) => problem !== undefined).slice(0, 1));
    plan = { ...plan, changed };
  }
  await settleEvent(read, target);
  return plan;
}

/** Reports everything that is wrong with the event a request names (D5). */
async function settleEvent(read: Reader, draft: EventDraft): Promise<void> {
  draft.problems.push(...(await placeProblems(read, draft)));
  await settle(read, eventBehaviour, draft);
}

async function refuseMissing(read: Reader, reach: Reach, id: number, body: EventBody): Promise<never> {
  if (body.problems.length === 0) throw notFound(events.one, id);
  const problems = [...body.problems];
  await checkLinks(read, reach, linksOf(events.fields, body.values), problems);
  throw new Refusal(problems);
}

/** Writes a plan, in the order in which the stream tells of it (D40): changes, deletions, new occurrences. */
export async function carryOut(
  tx: Transaction,
  request: OperationRequest,
  { target, changed, removed, added }: EventPlan,
): Promise<void> {
  const { organization, service } = target;
  const now = nowOf(service);
  for (const draft of [target, ...changed]) {
    if (!isDeepStrictEqual(draft.after, draft.before)) await storeDraft(tx, eventBehaviour, draft, now);
    else if (draft === target) await auditUnchanged(tx, request, events, draft.after);
  }
  await removeEvents(tx, target, removed);
  for (const start of added) {
    const after = { ...target.after, id: await tx.nextId(organization.org, events.type), start };
    fillEvent(after);
    await storeDraft(tx, eventBehaviour, { ...target, before: undefined, row: undefined, after }, now);
  }
}

/** The one way by which calendar events leave the store. */
export async function removeEvents(
  tx: Transaction,
  { organization, actor, service }: Pick<EventDraft, 'organization' | 'actor' | 'service'>,
  removed: readonly EventRecord[],
): Promise<void> {
  const at = nowOf(service);
  for (const before of removed) {
    await removeRecord(tx, organization.org, events, before.id, before);
    await recordChange(tx, { organization, actor, resource: events, before, after: undefined, at });
  }
}

/** Rules on linked records: the operatory is in the event's location, the provider an active person (D39). */
async function placeProblems(read: Reader, draft: EventDraft): Promise<Problem[]> {
  return [...(await operatoryProblems(read, draft)), ...(await providerProblems(read, draft))];
}

async function operatoryProblems(read: Reader, { organization, before, after }: EventDraft): Promise<Problem[]> {
  const id = changed(before?.operatory, after.operatory);
  const operatory = await referenceRecord(read, organization, 'Operatory', id);
  if (operatory === undefined || after.location === null || operatory.location?.id === after.location.id) return [];
  const description = `Operatory ${id} is in location ${operatory.location?.id}, not in the event's location ${after.location.id}.`;
  return [{ code: 'field.conflict', source: 'operatory.id', description }];
}

async function providerProblems(read: Reader, { organization, before, after }: EventDraft): Promise<Problem[]> {
  const id = changed(before?.provider, after.provider);
  const provider = await referenceRecord(read, organization, 'Provider', id);
  const problem = (what: string): Problem => ({
    code: 'field.conflict',
    source: 'provider.id',
    description: `Provider ${id} ${what}; an event takes an active provider who is a person.`,
  });
  return [
    ...(provider?.isActive === false ? [problem('is not active')] : []),
    ...(provider?.isNonPersonEntity === true ? [problem('is not a person')] : []),
  ];
}

interface Link {
  readonly id: number;
}

/** The id that a link got; a link that stays is not judged again: a provider may have left since. */
function changed(before: Link | null | undefined, after: Link | null): number | undefined {
  return before?.id === after?.id ? undefined : after?.id;
}
