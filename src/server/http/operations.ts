import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_PREFIX, allOperations } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import type { Warning } from '../../catalog/failures.ts';
import { readDocumentBody } from '../body/documentbody.ts';
import { allHandlers } from '../engine/handlers.ts';
import { fileName } from '../files/files.ts';
import type { Handler, Organization, Service } from '../service.ts';
import { successText } from './envelope.ts';
import { authenticate, identifyOrganization, requireScope } from './identity.ts';

declare module 'fastify' {
  interface FastifyRequest {
    organization: Organization | undefined;
  }
}

/** Mounts every operation of the catalog. Throws when one has no handler. */
export async function mountOperations(app: FastifyInstance, service: Service): Promise<void> {
  const handlers = allHandlers();
  app.decorateRequest('organization', undefined);
  const all = allOperations().map(({ operation }) => operation);
  for (const operation of all.filter((candidate) => !candidate.largeBody)) mount(app, service, operation, handlers);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(/^application\/json/i, (_request: FastifyRequest, payload: AsyncIterable<Uint8Array>) =>
      readDocumentBody(payload, service.files, fileName(randomUUID(), 'original'), service.maxDocumentBytes),
    );
    const limit = bodyLimit(service.maxDocumentBytes);
    for (const operation of all.filter((candidate) => candidate.largeBody)) mount(scope, service, operation, handlers, limit);
  });
}

/** Base64 takes four bytes for three, and encoders may break its lines. */
function bodyLimit(documentBytes: number): number {
  return Math.ceil(documentBytes * 1.4) + 2 * 1024 * 1024;
}

function mount(
  app: FastifyInstance,
  service: Service,
  operation: Operation,
  handlers: ReadonlyMap<string, Handler>,
  limit?: number,
): void {
  const handler = handlers.get(operation.id) as Handler;
  app.route({
    method: operation.method,
    url: API_PREFIX + operation.path.replace(/\{(\w+)\}/g, ':id'),
    ...(limit !== undefined && { bodyLimit: limit }),
    config: { operation: operation.id },
    onRequest: async (request) => {
      const grant = await authenticate(service, request.headers.authorization);
      request.organization = await identifyOrganization(service, grant, one(request.headers['organization-id']));
      requireScope(grant, operation.scope);
    },
    handler: (request, reply) => serve(service, operation, handler, request, reply),
  });
}

async function serve(service: Service, operation: Operation, handler: Handler, request: FastifyRequest, reply: FastifyReply) {
  const query = singleValues(request.query as Record<string, string | string[]>);
  const warnings: Warning[] = unknownParameters(operation, query);
  const answer = await handler({
    service,
    organization: request.organization as Organization,
    query,
    pathId: (request.params as { id?: string }).id,
    body: request.body,
    warnings,
    baseUrl: `${request.protocol}://${request.host}`,
  });
  reply.code(operation.success).type('application/json; charset=utf-8');
  return reply.send(successText(answer, warnings));
}

/** Several `filter` parameters are ANDed; of any other the last one counts. */
function singleValues(query: Record<string, string | string[]>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value];
      return [name, name === 'filter' ? value.filter((part) => part.trim() !== '').join(',') : value.at(-1)];
    }),
  );
}

function unknownParameters(operation: Operation, query: Record<string, string | undefined>): Warning[] {
  const known = parametersOf(operation);
  return Object.keys(query)
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
  ];
}

/** Methods of the route a path belongs to, none for an unknown path. */
export function methodsAt(path: string): string[] {
  const segments = path.split('/');
  const methods = allOperations()
    .map(({ operation }) => operation)
    .filter((operation) => {
      const pattern = (API_PREFIX + operation.path).split('/');
      return pattern.length === segments.length && pattern.every((part, index) => part.startsWith('{') || part === segments[index]);
    })
    .map((operation) => operation.method);
  return [...new Set(methods)];
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
