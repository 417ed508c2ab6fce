import { isDeepStrictEqual } from 'node:util';
import type { Operation, Resource } from '../../catalog/define.ts';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { checkLinks, linksOf } from '../references.ts';
import { blankRecord, emptyValue, projectText } from '../rendering.ts';
import { notFound, pathIdOf, readBody, readContext, readSelection } from '../requests.ts';
import { type Behaviour, type Draft, renderRecord } from '../resources/behaviour.ts';
import { type Answer, type Handler, nowOf, type OperationRequest } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
import { findRecord, putRecord, removeRecord } from '../store/records.ts';
import type { Reader, Transaction } from '../store/store.ts';
import { recordChange } from './changes.ts';

/** POST of a record (D6): every problem of body, rules and links is reported together. */
export function createHandler(behaviour: Behaviour): Handler {
  const { resource } = behaviour;
  return async (request) => {
    const context = readContext(request, 'create', await behaviour.zone?.(request));
    const values = readBody(request, resource, context);
    const { service, organization, actor } = request;
    const make = (id: number): Draft => ({
      service,
      organization,
      actor,
      before: undefined,
      row: undefined,
      after: merged(resource, Object.assign(blankRecord(resource), { id }), values),
      given: new Set(Object.keys(values)),
      problems: [...context.problems],
    });
    // A body that is wrong already never takes the write lock.
    if (context.problems.length > 0) await settle(service.store.read, behaviour, make(0));
    return service.store.write(async (tx) => {
      const draft = make(await tx.nextId(organization.org, resource.type));
      await settle(tx, behaviour, draft);
      const json = await storeDraft(tx, behaviour, draft, nowOf(service));
      const answer = answerWith(behaviour, request, draft, undefined, json);
      await request.remember(tx, answer);
      return answer;
    }, organization.org);
  };
}

/** PUT of a record: only what the body has changes; a change of nothing leaves everything as it is (D44). */
export function updateHandler(behaviour: Behaviour, operation: Operation): Handler {
  const { resource } = behaviour;
  return async (request) => {
    const selected = readSelection(request, operation);
    const context = readContext(request, 'update', await behaviour.zone?.(request));
    const values = readBody(request, resource, context);
    if (context.problems.length > 0) await refuseWithLinks(request, resource, values, context.problems);
    const id = pathIdOf(request, resource);
    const { service, organization, actor } = request;
    return service.store.write(async (tx) => {
      const row = await findRecord(tx, organization.org, resource, id);
      if (row === undefined) throw notFound(resource.one, id);
      const before = JSON.parse(row.json) as JsonRecord & { id: number };
      const draft: Draft = {
        service,
        organization,
        actor,
        before,
        row,
        after: merged(resource, { ...before }, values),
        given: new Set(Object.keys(values)),
        problems: [],
      };
      await settle(tx, behaviour, draft);
      if (!isDeepStrictEqual(draft.after, before)) await storeDraft(tx, behaviour, draft, nowOf(service));
      return answerWith(behaviour, request, draft, selected);
    }, organization.org);
  };
}

/** DELETE of a record: answers its id, or the whole of it where D6 says so. */
export function deleteHandler(behaviour: Behaviour): Handler {
  const { resource } = behaviour;
  return async (request) => {
    const { service, organization, actor } = request;
    const id = pathIdOf(request, resource);
    const before = await service.store.write(async (tx) => {
      const row = await findRecord(tx, organization.org, resource, id);
      if (row === undefined) throw notFound(resource.one, id);
      const before = JSON.parse(row.json) as JsonRecord & { id: number };
      await behaviour.beforeDelete?.(tx, { service, organization, actor, before, row });
      await removeRecord(tx, organization.org, resource, id);
      await recordChange(tx, { organization, actor, resource, before, after: undefined, at: nowOf(service) });
      return before;
    }, organization.org);
    return { data: behaviour.answersDeleted ? JSON.stringify(before) : JSON.stringify({ id }) };
  };
}

function merged<T extends Record<string, unknown>>(resource: Resource, base: T, values: JsonRecord): T {
  const record: Record<string, unknown> = base;
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(record, name)) record[name] = values[name] ?? emptyValue(resource.fields, name);
  }
  return base;
}

/** A body that is wrong already: its links are still worth checking, rules on the merged record are not. */
async function refuseWithLinks(
  request: OperationRequest,
  resource: Resource,
  values: JsonRecord,
  problems: Problem[],
): Promise<never> {
  await checkLinks(request.service.store.read, request.organization.org, linksOf(resource.fields, values), problems);
  throw new Refusal(problems);
}

/** Applies rules, completion and link checks; throws all problems together. */
export async function settle(read: Reader, behaviour: Behaviour, draft: Draft): Promise<void> {
  const { problems } = draft;
  const wrong = problems.length;
  behaviour.check?.(draft);
  // A value that could not be read is reported once, not again as missing.
  if (wrong > 0) dropRepeated(problems, wrong);
  const links = linksOf(behaviour.resource.fields, draft.after, draft.given);
  await checkLinks(read, draft.organization.org, links, draft.problems);
  if (draft.problems.length > 0) throw new Refusal(draft.problems);
  await behaviour.complete?.(read, draft);
  if (draft.problems.length > 0) throw new Refusal(draft.problems);
}

/** Takes those problems after the first ones out whose sources the first ones have. */
function dropRepeated(problems: Problem[], first: number): void {
  const found = problems.splice(first);
  const known = new Set(problems.map(({ source }) => source));
  problems.push(...found.filter(({ source }) => !known.has(source)));
}

/** The one way by which a record gets into the store. Answers its JSON, where that is still how it is. */
export async function storeDraft(
  tx: Transaction,
  behaviour: Behaviour,
  draft: Draft,
  now: string,
): Promise<string | undefined> {
  const { resource } = behaviour;
  if (Object.hasOwn(resource.fields, 'lastModified')) draft.after.lastModified = now;
  const { organization, actor, before, after } = draft;
  const json = JSON.stringify(after);
  // A new record has an id that none ever had (`nextId`).
  await putRecord(tx, organization.org, resource, after, behaviour.ownValues?.(draft), before === undefined, json);
  await behaviour.indexed?.(tx, draft);
  await recordChange(tx, { organization, actor, resource, before, after, json, at: now });
  return (await behaviour.stored?.(tx, draft)) ? undefined : json;
}

export function answerWith(
  behaviour: Behaviour,
  request: OperationRequest,
  draft: Draft,
  selected: readonly string[] | undefined,
  json = JSON.stringify(draft.after),
): Answer {
  const row = { id: draft.after.id, json, ...behaviour.ownValues?.(draft) };
  return { data: projectText(renderRecord(behaviour, row, request), selected) };
}
