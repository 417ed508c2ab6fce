import { isDeepStrictEqual } from 'node:util';
import type { Operation, Resource } from '../../catalog/define.ts';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { type Actor, appendAudit } from '../audit/entries.ts';
import { nowOf } from '../clock.ts';
import { checkLinks, linksOf } from '../references.ts';
import { blankRecord, mergeValues, projectText } from '../rendering.ts';
import { notFound, pathIdOf, readBody, readContext, readSelection } from '../requests.ts';
import { type Behaviour, type Draft, renderRecord } from '../resources/behaviour.ts';
import type { Handler, OperationRequest, OperationResponse } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
import { patientOf } from '../store/patientof.ts';
import type { Reach } from '../store/reach.ts';
import { findRecord, putRecord, removeRecord } from '../store/records.ts';
import type { Reader, Transaction } from '../store/store.ts';
import { type Change, messageOf, placesOfChange } from '../stream/changemessages.ts';
import { appendMessage } from '../stream/outbox.ts';

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
      after: mergeValues(resource.fields, Object.assign(blankRecord(resource), { id }), values),
      given: new Set(Object.keys(values)),
      problems: [...context.problems],
    });
    // A body with problems never takes the write lock.
    if (context.problems.length > 0) await settle(service.store.read, behaviour, make(0));
    return service.store.write(async (tx) => {
      const draft = make(await tx.nextId(organization.org, resource.type));
      await settle(tx, behaviour, draft);
      const json = await storeDraft(tx, behaviour, draft, nowOf(service));
      const response = responseOf(behaviour, request, draft, undefined, json);
      await request.storeResponse(tx, response);
      return response;
    }, organization.org);
  };
}

/** PUT of a record: only fields in the body change; without a change nothing is written (D44). */
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
      const { row, before } = await existingRecord(tx, resource, organization, id);
      const draft: Draft = {
        service,
        organization,
        actor,
        before,
        row,
        after: mergeValues(resource.fields, { ...before }, values),
        given: new Set(Object.keys(values)),
        problems: [],
      };
      await settle(tx, behaviour, draft);
      if (isDeepStrictEqual(draft.after, before)) await auditUnchanged(tx, request, resource, before);
      else await storeDraft(tx, behaviour, draft, nowOf(service));
      return responseOf(behaviour, request, draft, selected);
    }, organization.org);
  };
}

/** DELETE of a record: responds with its id, or the complete record where D6 says so. */
export function deleteHandler(behaviour: Behaviour): Handler {
  const { resource } = behaviour;
  return async (request) => {
    const { service, organization, actor } = request;
    const id = pathIdOf(request, resource);
    const before = await service.store.write(async (tx) => {
      const { row, before } = await existingRecord(tx, resource, organization, id);
      await behaviour.beforeDelete?.(tx, { service, organization, actor, before, row });
      await removeRecord(tx, organization.org, resource, id, before);
      await recordChange(tx, { organization, actor, resource, before, after: undefined, at: nowOf(service) });
      return before;
    }, organization.org);
    return { data: behaviour.answersDeleted ? JSON.stringify(before) : JSON.stringify({ id }) };
  };
}

async function existingRecord(tx: Transaction, resource: Resource, reach: Reach, id: number) {
  const row = await findRecord(tx, reach, resource, id);
  if (row === undefined) throw notFound(resource.one, id);
  return { row, before: JSON.parse(row.json) as JsonRecord & { id: number } };
}

/** Of a body with problems the links are still worth checking; rules on the merged record are not. */
async function refuseWithLinks(
  request: OperationRequest,
  resource: Resource,
  values: JsonRecord,
  problems: Problem[],
): Promise<never> {
  await checkLinks(request.service.store.read, request.organization, linksOf(resource.fields, values), problems);
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
  await checkLinks(read, draft.organization, links, draft.problems);
  if (draft.problems.length > 0) throw new Refusal(draft.problems);
  await behaviour.complete?.(read, draft);
  if (draft.problems.length > 0) throw new Refusal(draft.problems);
}

/** Removes the problems after the first ones whose sources are among the first ones. */
function dropRepeated(problems: Problem[], first: number): void {
  const found = problems.splice(first);
  const known = new Set(problems.map(({ source }) => source));
  problems.push(...found.filter(({ source }) => !known.has(source)));
}

/** The one way to store a record. Returns its JSON unless `behaviour.stored` changed the record once more. */
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
  // A new record has an id that was never used before (`nextId`).
  await putRecord(tx, organization.org, resource, after, behaviour.ownValues?.(draft), before ?? null, json);
  await behaviour.indexed?.(tx, draft);
  await recordChange(tx, { organization, actor, resource, before, after, json, at: now });
  return (await behaviour.stored?.(tx, draft)) ? undefined : json;
}

/** The response to a write: the selected fields of the record, all when `selected` is undefined. */
export function responseOf(
  behaviour: Behaviour,
  request: OperationRequest,
  draft: Draft,
  selected: readonly string[] | undefined,
  json = JSON.stringify(draft.after),
): OperationResponse {
  const row = { id: draft.after.id, json, ...behaviour.ownValues?.(draft) };
  return { data: projectText(renderRecord(behaviour, row, request), selected) };
}

/**
 * Publishes and audits a change in the transaction that makes it. Every write of a record calls it once, after the write;
 * an import, without `actor`, audits its changes together when it ends.
 */
export async function recordChange(
  tx: Transaction,
  change: Change & { readonly actor: Actor | undefined },
): Promise<void> {
  const { actor, organization, resource, before, after } = change;
  const record = after ?? before;
  if (record === undefined) return;
  const patient = await patientOf(tx, organization.org, resource, record);
  const message = messageOf(change);
  if (message !== undefined) {
    const whose = { recordId: record.id as number, patientId: patient };
    await appendMessage(tx, { ...message, ...whose, ...(await placesOfChange(tx, change)) });
  }
  if (actor === undefined) return;
  const verb = before === undefined ? 'create' : after === undefined ? 'delete' : 'update';
  // A record that goes to another patient was the data of both.
  const earlier = verb === 'update' ? await patientOf(tx, organization.org, resource, before as JsonRecord) : null;
  await auditRecord(tx, { ...change, actor }, verb, [patient, earlier]);
}

/** Audits a write of one record in the transaction that makes it. */
export async function auditRecord(
  tx: Transaction,
  { organization, actor, resource, before, after, at }: Change & { readonly actor: Actor },
  verb: 'create' | 'update' | 'delete',
  patients: readonly (number | null)[],
): Promise<void> {
  const { id } = (after ?? before) as { id: number };
  await appendAudit(tx, {
    org: organization.org,
    at,
    actor,
    operation: `${resource.name}.${verb}`,
    ids: [id],
    patients: patients.filter((patient) => patient !== null),
  });
}

/** Audits an update that changed nothing: its answer tells of the record nevertheless. */
export async function auditUnchanged(
  tx: Transaction,
  { organization, actor, service }: Pick<OperationRequest, 'organization' | 'actor' | 'service'>,
  resource: Resource,
  record: JsonRecord,
): Promise<void> {
  const patient = await patientOf(tx, organization.org, resource, record);
  const change = { organization, actor, resource, before: record, after: record, at: nowOf(service) };
  await auditRecord(tx, change, 'update', [patient]);
}
