import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_PREFIX, allOperations } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import { Refusal, type Warning } from '../../catalog/failures.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { DocumentBody, documentBodyLimit, readDocumentBody } from '../body/documentbody.ts';
import { JSON_MEDIA_TYPE } from '../body/jsonbody.ts';
import { nowOf } from '../clock.ts';
import { allHandlers } from '../engine/handlers.ts';
import { fileName } from '../files/files.ts';
import type { Organization } from '../organizations.ts';
import type { Found, Handler, Service } from '../service.ts';
import type { Transaction } from '../store/store.ts';
import type { Grant } from '../tokens/tokens.ts';
import { actorOf, auditedRead } from './audited.ts';
import { knownNow } from './authcache.ts';
import { sendCompressed } from './compression.ts';
import { successBody, successText } from './envelope.ts';
import { hashOf, IdempotencyKeys, type KeyPlace, readKey } from './idempotency.ts';
import { authenticate, type Gate, identifyOrganization, requireScope } from './identity.ts';
import { type RateLimit, tooMany } from './ratelimit.ts';
import { rateLimitOf } from './sharedratelimit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

/** Who a request comes from and for which organization. */
interface Caller {
  readonly grant: Grant;
  readonly organization: Organization;
}

/** What the routes share. */
interface Mounting {
  readonly gate: Gate;
  readonly service: Service;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly limit: RateLimit;
  readonly keys: IdempotencyKeys;
}

/** Mounts every operation of the catalog. Throws when one has no handler. */
export async function mountOperations(app: FastifyInstance, gate: Gate, rateLimit: number): Promise<void> {
  const { service } = gate;
  const mounting: Mounting = {
    gate,
    service,
    handlers: allHandlers(),
    limit: rateLimitOf(service.store, rateLimit, service.clock),
    keys: new IdempotencyKeys(service),
  };
  app.decorateRequest('caller', undefined);
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
  const { service } = mounting;
  app.route({
    method: operation.method,
    url: API_PREFIX + operation.path.replace(/\{(\w+)\}/g, ':id'),
    ...(limit !== undefined && { bodyLimit: limit }),
    config: { operation: operation.id },
    onRequest: async (request, reply) => {
      const known = knownNow(service.store);
      // To wait for what is there already would cost a turn of the queue of promises, each.
      const granted = authenticate(mounting.gate, request, known);
      const grant = granted instanceof Promise ? await granted : granted;
      const asked = identifyOrganization(service, grant, one(request.headers['organization-id']), known);
      const organization = asked instanceof Promise ? await asked : asked;
      requireScope(grant, operation.scope);
      if (operation.rateLimited) {
        const taken = mounting.limit.take(`${organization.id} ${grant.id}`);
        const { allowed, headers } = taken instanceof Promise ? await taken : taken;
        reply.headers(headers);
        if (!allowed) throw tooMany();
      }
      request.caller = { grant, organization };
    },
    handler: (request, reply) => serve(mounting, operation, request, reply),
  });
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** They answer with download links, which let anybody read a file, beside names that others chose: never compressed. */
const WITH_LINKS: ReadonlySet<string> = new Set(Object.values(documents.operations).map(({ id }) => id));

/** Runs an operation; a POST with an Idempotency-Key that was answered before gets the first answer again (D46). */
async function serve(mounting: Mounting, operation: Operation, request: FastifyRequest, reply: FastifyReply) {
  reply.type(JSON_TYPE);
  const send = (status: number, body: string | Buffer) => {
    reply.code(status);
    return WITH_LINKS.has(operation.id) ? reply.send(body) : sendCompressed(request, reply, body);
  };
  if (operation.method !== 'POST' || request.headers['idempotency-key'] === undefined) {
    return send(operation.success, await run(mounting, operation, request, reply));
  }
  const { keys } = mounting;
  const hash = hashOf(request.body);
  const laterWhenRunning = (error: unknown) => {
    if (error instanceof Refusal && error.status === 409) reply.header('retry-after', '1');
    throw error;
  };
  const claim = await claimKey(mounting, operation, request, hash).catch(async (error: unknown) => {
    await dropStaged(mounting.service, request);
    return laterWhenRunning(error);
  });
  try {
    if (claim.earlier !== undefined) {
      await dropStaged(mounting.service, request);
      reply.header('idempotency-replayed', 'true');
      return send(claim.earlier.status, claim.earlier.answer);
    }
    const keep = (tx: Transaction, answer: string) =>
      keys.keep(tx, claim.place, hash, { status: operation.success, answer });
    const text = await run(mounting, operation, request, reply, keep, keys.guarded(claim.place)).catch(
      laterWhenRunning,
    );
    return send(operation.success, text);
  } finally {
    claim.release();
  }
}

/** Holds the key of a request and looks for an earlier answer. Throws a Refusal; nothing is held then. */
async function claimKey({ keys }: Mounting, operation: Operation, request: FastifyRequest, hash: string) {
  const { grant, organization } = request.caller as Caller;
  const name = readKey(request.headers['idempotency-key']);
  const place: KeyPlace = {
    org: organization.org,
    token: grant.id,
    route: `${operation.id} ${pathIdOf(request) ?? ''}`,
    name,
  };
  const release = keys.hold(place);
  try {
    return { place, release, earlier: await keys.earlier(place, hash) };
  } catch (error) {
    release();
    throw error;
  }
}

/** A document whose request goes no further leaves no file behind. */
async function dropStaged(service: Service, request: FastifyRequest): Promise<void> {
  if (request.body instanceof DocumentBody && request.body.content)
    await service.files.discard(request.body.content.name);
}

/** The envelope; `keep` gets its text inside the transaction of a write. */
async function run(
  mounting: Mounting,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  keep: (tx: Transaction, text: string) => Promise<void> = async () => {},
  service = mounting.service,
): Promise<string | Buffer> {
  const { grant, organization } = request.caller as Caller;
  const query = singleValues(request.query as Record<string, string | string[]>);
  const warnings = unknownParameters(operation, query);
  const handler = mounting.handlers.get(operation.id) as Handler;
  const { reads } = service;
  if (operation.method === 'GET') reads.admit();
  const actor = actorOf(request, grant);
  const found: Found = {};
  let kept: string | undefined;
  const answer = await handler({
    service,
    organization,
    actor,
    found,
    query,
    pathId: pathIdOf(request),
    body: request.body,
    warnings,
    baseUrl: `${request.protocol}://${request.host}`,
    remember: (tx, made) => {
      kept = successText(made, warnings);
      return keep(tx, kept);
    },
  });
  if (operation.method === 'GET') {
    const read = auditedRead(operation, { query, pathId: pathIdOf(request), found });
    reads.note({ org: organization.org, at: nowOf(service), actor, ...read });
  }
  if (answer.headers !== undefined) reply.headers(answer.headers);
  return kept ?? successBody(answer, warnings);
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
export function parametersOf(operation: Operation): string[] {
  return [
    ...(operation.filters ? ['filter'] : []),
    ...(operation.selectable ? ['responseFields'] : []),
    ...(operation.paging ? ['pageSize', 'page'] : []),
    ...(operation.paging?.style === 'cursor' ? ['lastId'] : []),
    ...Object.keys(operation.parameters ?? {}),
  ];
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
