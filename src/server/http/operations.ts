import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_PREFIX, allOperations } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { Refusal, type Warning } from '../../catalog/failures.ts';
import { DocumentBody, documentBodyLimit, readDocumentBody } from '../body/documentbody.ts';
import { JSON_MEDIA_TYPE } from '../body/jsonbody.ts';
import { nowOf } from '../clock.ts';
import { allHandlers } from '../engine/handlers.ts';
import { requestTurn } from '../fairscheduling.ts';
import { fileName } from '../files/files.ts';
import type { Found, Handler, OperationResponse, Service } from '../service.ts';
import { sendCompressed } from './compression.ts';
import { JSON_TYPE, successBody } from './envelope.ts';
import { hasLinks, isKnown, isTagged } from './etag.ts';
import { idOnly, mayRead, replayOf } from './idanswers.ts';
import { type Claim, hashOf, IdempotencyKeys, readKey } from './idempotency.ts';
import {
  type AuthContext,
  actorOf,
  authenticate,
  type Caller,
  currentAuthCache,
  identifyOrganization,
  requireScope,
} from './identity.ts';
import { type RateLimit, tooManyRequests } from './ratelimit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    /** From whose rate limit the request was taken. */
    limited: string | undefined;
  }
}

/** What the routes share. */
interface Mounting {
  readonly auth: AuthContext;
  readonly handlers: ReadonlyMap<string, Handler>;
  /** The resource of each operation, by operation id. */
  readonly resources: ReadonlyMap<string, Resource>;
  readonly limit: RateLimit;
  readonly keys: IdempotencyKeys;
}

/** Mounts every operation of the catalog. Throws when one has no handler. */
export async function mountOperations(app: FastifyInstance, auth: AuthContext, limit: RateLimit): Promise<void> {
  const { service } = auth;
  const mounting: Mounting = {
    auth,
    handlers: allHandlers(),
    resources: new Map(allOperations().map(({ resource, operation }) => [operation.id, resource])),
    limit,
    keys: new IdempotencyKeys(service),
  };
  app.decorateRequest('caller', undefined);
  app.decorateRequest('limited', undefined);
  const all = allOperations().map(({ operation }) => operation);
  for (const operation of all.filter((candidate) => !candidate.largeBody)) mount(app, mounting, operation);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(JSON_MEDIA_TYPE, (_request: FastifyRequest, payload: AsyncIterable<Uint8Array>) =>
      readDocumentBody(payload, service.files, fileName(randomUUID(), 'original'), service.maxDocumentBytes),
    );
    const limit = documentBodyLimit(service.maxDocumentBytes);
    for (const operation of all.filter((candidate) => candidate.largeBody)) mount(scope, mounting, operation, limit);
  });
}

function mount(app: FastifyInstance, mounting: Mounting, operation: Operation, limit?: number): void {
  const { service } = mounting.auth;
  app.route({
    method: operation.method,
    url: API_PREFIX + operation.path.replace(/\{(\w+)\}/g, ':id'),
    ...(limit !== undefined && { bodyLimit: limit }),
    config: { operation: operation.id },
    onRequest: async (request, reply) => {
      const cache = currentAuthCache(service.store);
      // To await what is cached would cost a turn of the microtask queue, each.
      const granted = authenticate(mounting.auth, request, cache);
      const grant = granted instanceof Promise ? await granted : granted;
      const identified = identifyOrganization(service, grant, request, cache);
      const organization = identified instanceof Promise ? await identified : identified;
      request.caller = { grant, organization };
      const begins = requestTurn(organization.org);
      if (begins !== undefined) await begins;
      requireScope(grant, operation.scope, operation.method);
      if (operation.rateLimited) {
        const limited = `${organization.id} ${grant.id}`;
        const taken = mounting.limit.take(limited);
        const { allowed, headers } = taken instanceof Promise ? await taken : taken;
        reply.headers(headers);
        if (!allowed) throw tooManyRequests();
        request.limited = limited;
      }
    },
    handler: (request, reply) => serve(mounting, operation, request, reply),
  });
}

/** Runs an operation; a POST whose Idempotency-Key has a stored response gets that again (D46). */
async function serve(mounting: Mounting, operation: Operation, request: FastifyRequest, reply: FastifyReply) {
  reply.type(JSON_TYPE);
  const send = (status: number, body: string | Buffer) => {
    reply.code(status);
    // A link lets anybody read a file, and stands beside names that others chose.
    return hasLinks(operation) ? reply.send(body) : sendCompressed(request, reply, body);
  };
  if (operation.method !== 'POST' || request.headers['idempotency-key'] === undefined) {
    const body = await run(mounting, operation, request, reply);
    if (!isTagged(operation) || !isKnown(request, reply, body)) return send(operation.success, body);
    return reply.code(304).removeHeader('content-type').send();
  }
  let claim: Claim | undefined;
  try {
    claim = await claimKey(mounting.keys, operation, request);
    if (claim.earlier === undefined) {
      return send(operation.success, await run(mounting, operation, request, reply, claim));
    }
    await discardStaged(mounting.auth.service, request);
    const answer = await replay(mounting, operation, request, claim.earlier.answer);
    reply.header('idempotency-replayed', 'true');
    return send(claim.earlier.status, answer);
  } catch (error) {
    if (claim === undefined) await discardStaged(mounting.auth.service, request);
    if (error instanceof Refusal && error.status === 409) reply.header('retry-after', '1');
    throw error;
  } finally {
    claim?.release();
  }
}

async function claimKey(keys: IdempotencyKeys, operation: Operation, request: FastifyRequest): Promise<Claim> {
  const { grant, organization } = request.caller as Caller;
  const name = readKey(request.headers['idempotency-key']);
  const route = `${operation.id} ${pathIdOf(request) ?? ''}`;
  return keys.claim({ org: organization.org, token: grant.id, route, name }, hashOf(request.body));
}

/** A stored response as this caller may see it; each one that is sent again is an entry of its own. */
async function replay(
  mounting: Mounting,
  operation: Operation,
  request: FastifyRequest,
  answer: string,
): Promise<string> {
  const { service } = mounting.auth;
  const { grant, organization } = request.caller as Caller;
  const resource = mounting.resources.get(operation.id) as Resource;
  const replayed = await replayOf(service.store.read, organization, resource, answer, pathIdOf(request));
  await service.reads.disclose({
    org: organization.org,
    at: nowOf(service),
    actor: actorOf(request, grant),
    operation: operation.id,
    ...replayed.disclosure,
    via: 'replay',
  });
  return mayRead(grant) ? answer : replayed.idOnly;
}

/** A document whose request ends here leaves no file behind. */
async function discardStaged(service: Service, { body }: FastifyRequest): Promise<void> {
  if (body instanceof DocumentBody && body.content) await service.files.discard(body.content.name);
}

/** The service as an organization has it: where reads wait for each other, it is one of those who take turns. */
function readingFor(service: Service, org: number): Service {
  const { store } = service;
  const read = store.readFor(org);
  return read === store.read ? service : { ...service, store: { ...store, read } };
}

/** Runs the handler and returns the body of the response; a claimed key stores that in the transaction of the write. */
async function run(
  mounting: Mounting,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  claim?: Claim,
): Promise<string | Buffer> {
  const { grant, organization } = request.caller as Caller;
  const service = readingFor(claim?.service ?? mounting.auth.service, organization.org);
  const query = singleValues(request.query as Record<string, string | string[]>);
  const warnings = unknownParameters(operation, query);
  const handler = mounting.handlers.get(operation.id) as Handler;
  const { reads } = service;
  if (operation.method === 'GET') reads.admit();
  const actor = actorOf(request, grant);
  const pathId = pathIdOf(request);
  const found: Found = {};
  let stored: string | undefined;
  const answer = operation.method === 'GET' ? service.budgets.answers.begin(organization.org, reply.raw) : undefined;
  const answerOf = (made: OperationResponse) =>
    operation.method === 'GET' || mayRead(grant) ? made : idOnly(made, pathId);
  const response = await handler({
    service,
    organization,
    grant,
    actor,
    found,
    query,
    pathId,
    body: request.body,
    warnings,
    baseUrl: `${request.protocol}://${request.host}`,
    storeResponse: async (tx, made) => {
      stored = successBody(answerOf(made), warnings).toString();
      await claim?.store(tx, { status: operation.success, answer: stored });
    },
  });
  const body = stored ?? successBody(answerOf(response), warnings);
  if (operation.method === 'GET') {
    answer?.prepare(Buffer.byteLength(body));
    const noted = reads.disclose({
      org: organization.org,
      at: nowOf(service),
      actor,
      operation: operation.id,
      ids: found.ids,
      patients: found.patients,
      count: found.count,
      filterKeys: [...(found.filterKeys ?? []), ...searchParameters(operation, query)],
    });
    if (noted !== undefined) await noted;
  }
  if (response.headers !== undefined) reply.headers(response.headers);
  return body;
}

/** Parameters that shape a response rather than select records. */
const SHAPING = ['filter', 'responseFields', 'pageSize', 'page', 'lastId'];

/** What a read selects by, for the audit log: names of parameters, never their values. */
function searchParameters({ parameters = {} }: Operation, query: object): string[] {
  return Object.keys(query).filter((name) => !SHAPING.includes(name) && Object.hasOwn(parameters, name));
}

function pathIdOf(request: FastifyRequest): string | undefined {
  return (request.params as { id?: string }).id;
}

/** Several `filter` parameters are ANDed; of any other the last one counts. */
function singleValues(query: Record<string, string | string[]>): Record<string, string | undefined> {
  const given = Object.entries(query);
  if (given.length === 0) return NOTHING;
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value];
      return [name, name === 'filter' ? value.filter((part) => part.trim() !== '').join(',') : value.at(-1)];
    }),
  );
}

const NOTHING: Readonly<Record<string, undefined>> = {};

function unknownParameters(operation: Operation, query: Record<string, string | undefined>): Warning[] {
  const names = Object.keys(query);
  if (names.length === 0) return [];
  const known = parametersOf(operation);
  return names
    .filter((name) => !known.includes(name))
    .map((name) => ({
      title: 'Unknown parameter',
      description: `${name} is not a parameter here and was ignored. Parameters: ${known.join(', ') || 'none'}.`,
      source: name,
    }));
}

/** Query parameters an operation takes. */
function parametersOf(operation: Operation): string[] {
  return [
    ...(operation.filters ? ['filter'] : []),
    ...(operation.selectable ? ['responseFields'] : []),
    ...(operation.paging ? ['pageSize', 'page'] : []),
    ...(operation.paging?.style === 'cursor' ? ['lastId'] : []),
    ...Object.keys(operation.parameters ?? {}),
  ];
}
