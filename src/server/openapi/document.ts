import { API_PREFIX, allOperations, RESOURCES } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import type { Scope } from '../../catalog/scopes.ts';
import { exampleBody } from './examples.ts';
import { bodyName, type Json, operationName, ref } from './names.ts';
import { parametersOf, SHARED_PARAMETERS } from './parameters.ts';
import { responsesOf, SHARED_HEADERS, sharedResponses } from './responses.ts';
import { apiSchemas } from './schemas.ts';
import { SERVICE_PATHS, SERVICE_SCHEMAS, TOKEN_PATH } from './service.ts';

/** What each scope allows. */
export const SCOPE_MEANINGS: Readonly<Record<Scope, string>> = {
  'model:read': 'Read records and reports',
  'model:write': 'Create, change and delete records',
  'practice:read': 'Read the production report',
};

const DESCRIPTION = `HTTP and JSON interface to a dental practice-management system.

Every request names its organization in the \`Organization-ID\` header and carries a bearer token. Responses are envelopes:
\`data\`, \`warnings\`, \`errors\`, and \`meta\` on bulk reads. Page through lists with \`lastId\`: start with 0, continue
with the id of the last record, and stop at an empty page. Enumerated values are read in any letter case, ids as numbers
or numeric strings. \`GET /docs\` serves this reference as a page, with guides.`;

/** The OpenAPI 3.1 description of the service, derived from the catalog; paths are those that are served. */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Practice Management API',
      version: '1.0.0',
      summary: 'Patients, documents, ledger, schedule and reports of a dental practice',
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: [
      ...RESOURCES.map(({ name, about }) => ({ name, description: about })),
      { name: 'authentication', description: 'Tokens' },
      { name: 'stream', description: 'Changes as they are committed' },
      { name: 'files', description: 'Signed download links' },
      { name: 'service', description: 'Health, metrics and documentation' },
    ],
    paths: { ...operationPaths(), ...SERVICE_PATHS },
    components: {
      schemas: { ...apiSchemas(), ...SERVICE_SCHEMAS },
      parameters: SHARED_PARAMETERS,
      headers: SHARED_HEADERS,
      responses: sharedResponses(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token of the organization.' },
        clientCredentials: {
          type: 'oauth2',
          description: 'Tokens by client id and secret.',
          flows: {
            clientCredentials: { tokenUrl: `${TOKEN_PATH}?grant_type=client_credentials`, scopes: SCOPE_MEANINGS },
          },
        },
      },
    },
  };
}

/** Path items of every operation of the catalog, by path. */
function operationPaths(): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const { resource, operation } of allOperations()) {
    const path = API_PREFIX + operation.path;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(resource, operation) };
  }
  return paths;
}

function operationObject(resource: Resource, operation: Operation): Json {
  return {
    operationId: operationName(operation),
    tags: [resource.name],
    summary: operation.summary,
    description: [`${operation.summary}.`, accessNote(operation), ...notesOf(operation)].join('\n\n'),
    parameters: parametersOf(resource.one, operation),
    ...(operation.body && { requestBody: requestBody(resource, operation) }),
    responses: responsesOf(resource, operation),
    security: [{ bearer: [] }, { clientCredentials: [operation.scope] }],
  };
}

function requestBody(resource: Resource, operation: Operation): Json {
  const schema = ref('schemas', bodyName(resource, operation));
  const content = {
    schema: operation.bodyIsArray ? { type: 'array', items: schema } : schema,
    example: exampleBody(resource, operation),
  };
  return { required: true, content: { 'application/json': content } };
}

function accessNote({ scope, rateLimited }: Operation): string {
  return `Requires the scope \`${scope}\`.${rateLimited ? ' Rate limited.' : ''}`;
}

/** What is worth knowing about an operation beside its parameters, one sentence each. */
export function notesOf(operation: Operation): string[] {
  const { defaultDate, newestFirst, order, shape, countNames = [] } = operation;
  return [
    ...(shape === 'update'
      ? ['Only the properties in the body change; null clears a value that is not required.']
      : []),
    ...(shape === 'replace' ? ['The body replaces the complete list; an empty one clears it.'] : []),
    ...(shape === 'async'
      ? [
          'Returns the first 10 records; the stream (`GET /api/v1/stream`) delivers all of them as READ messages whose correlationId is the X-Correlation-ID of the response, followed by one READ_COMPLETE with their total.',
        ]
      : []),
    ...(countNames.length > 1 ? [`${countNames.join(' and ')} are the same number.`] : []),
    ...(order === 'descending' ? ['Newest first: ids descend.'] : []),
    ...(newestFirst
      ? [
          `Newest first when filtered by ${newestFirst.join(' or ')} without lastId; send lastId to page through all of them.`,
        ]
      : []),
    ...(defaultDate
      ? [
          `Without a filter on ${defaultDate.limiting.join(' or ')}, only records with ${defaultDate.key} in the last year are returned, and a warning says so.`,
        ]
      : []),
    ...(operation.method === 'POST' ? ['Accepts an Idempotency-Key, so that it can be repeated safely.'] : []),
  ];
}
