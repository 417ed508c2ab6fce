import { operationOf } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { events } from '../../catalog/resources/events.ts';
import { responseOf } from '../engine/writing.ts';
import { gather, notFound, pathIdOf, readBody, readContext, readSelection } from '../requests.ts';
import type { Handler, OperationRequest, OperationResponse } from '../service.ts';
import { findRecord } from '../store/records.ts';
import { type ZoneClock, zoneClock } from '../wallclock.ts';
import type { EventBody, EventRecord, EventValues } from './eventdrafts.ts';
import { carryOut, planCreation, planUpdate, type RecurrenceTarget, removeEvents } from './eventplans.ts';
import { eventBehaviour } from './events.ts';
import { laterOccurrences } from './eventseries.ts';

const UPDATE = operationOf(events, 'update');
const DELETE = operationOf(events, 'delete');

/** POST, PUT and DELETE of calendar events (D39): one request is one transaction, however many occurrences it writes. */
export const eventHandlers: Readonly<Record<string, Handler>> = {
  [operationOf(events, 'create').id]: createEvent,
  [UPDATE.id]: updateEvent,
  [DELETE.id]: deleteEvent,
};

async function createEvent(request: OperationRequest): Promise<OperationResponse> {
  const { organization, service } = request;
  const clock = await clockOf(request);
  const body = readEvent(request, 'create', clock, []);
  // A body that is wrong already never takes the write lock.
  if (body.problems.length > 0) await planCreation(service.store.read, request, 0, body, clock);
  return service.store.write(async (tx) => {
    const plan = await planCreation(tx, request, await tx.nextId(organization.org, events.type), body, clock);
    await carryOut(tx, request, plan);
    const answer = responseOf(eventBehaviour, request, plan.target, undefined);
    await request.storeResponse(tx, answer);
    return answer;
  }, organization.org);
}

async function updateEvent(request: OperationRequest): Promise<OperationResponse> {
  const { store } = request.service;
  const clock = await clockOf(request);
  const problems: Problem[] = [];
  const selected = gather(problems, () => readSelection(request, UPDATE));
  const target = readTarget(request, UPDATE, problems);
  const body = readEvent(request, 'update', clock, problems);
  const id =
    body.problems.length === 0 ? pathIdOf(request, events) : (gather([], () => pathIdOf(request, events)) ?? 0);
  if (body.problems.length > 0) await planUpdate(store.read, request, id, body, target, clock);
  return store.write(async (tx) => {
    const plan = await planUpdate(tx, request, id, body, target, clock);
    await carryOut(tx, request, plan);
    return responseOf(eventBehaviour, request, plan.target, selected);
  }, request.organization.org);
}

async function deleteEvent(request: OperationRequest): Promise<OperationResponse> {
  const { organization, service } = request;
  const problems: Problem[] = [];
  const target = readTarget(request, DELETE, problems);
  if (problems.length > 0) throw new Refusal(problems);
  const id = pathIdOf(request, events);
  await service.store.write(async (tx) => {
    const row = await findRecord(tx, organization, events, id);
    if (row === undefined) throw notFound(events.one, id);
    const event = JSON.parse(row.json) as EventRecord;
    if (event.groupId !== null && target === undefined) throw new Refusal([targetMissing('an event of a series')]);
    const later = target === 'SERIES' ? await laterOccurrences(tx, organization.org, event) : [];
    await removeEvents(tx, request, [event, ...later]);
  }, organization.org);
  return { data: JSON.stringify({ id }) };
}

/** The clock that local times of the request stand in (D7). */
async function clockOf(request: OperationRequest): Promise<ZoneClock> {
  return zoneClock((await eventBehaviour.zone?.(request)) ?? request.organization.timezone);
}

/** Reads the body; its problems join those of the query. */
function readEvent(
  request: OperationRequest,
  mode: 'create' | 'update',
  clock: ZoneClock,
  problems: readonly Problem[],
): EventBody {
  const context = readContext(request, mode, clock.zone);
  const values: EventValues = readBody(request, events, context);
  // No days and days named twice say nothing more than null and each day once.
  if (values.recurrenceDays) values.recurrenceDays = [...new Set(values.recurrenceDays)];
  if (values.recurrenceDays?.length === 0) values.recurrenceDays = null;
  const unread = new Set(context.problems.map(({ source }) => source?.split(/[.[]/)[0] ?? ''));
  return { values, unread, problems: [...problems, ...context.problems] };
}

/** `recurrenceTarget` in exact upper case (D8); undefined when it is not sent, or wrong, which is a problem then. */
function readTarget(
  request: OperationRequest,
  operation: Operation,
  problems: Problem[],
): RecurrenceTarget | undefined {
  const sent = request.query.recurrenceTarget ?? '';
  const { values = [], required = false } = operation.parameters?.recurrenceTarget ?? {};
  if (values.includes(sent)) return sent as RecurrenceTarget;
  if (sent !== '') {
    const description = `recurrenceTarget must be ${values.join(' or ')}, in upper case.`;
    problems.push({ code: 'field.choice', source: 'recurrenceTarget', description });
  } else if (required) {
    problems.push(targetMissing('an update'));
  }
  return undefined;
}

function targetMissing(what: string): Problem {
  const description = `recurrenceTarget is required for ${what}: SERIES (it and all later ones) or OCCURRENCE (it alone).`;
  return { code: 'query.missing', source: 'recurrenceTarget', description };
}
