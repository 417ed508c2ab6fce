import { API_PREFIX } from '../../catalog/catalog.ts';
import type { FailureCode } from '../../catalog/failures.ts';
import { STREAM_PATH } from '../../catalog/stream/messages.ts';
import { type Json, ref } from './json.ts';
import { refusalResponse } from './responses.ts';
import { STREAM_MESSAGE, streamItem } from './stream.ts';

const text = (description: string, media: string): Json => ({
  description,
  content: { [media]: { schema: { type: 'string' } } },
});

const state = (description: string, status: string): Json => ({
  description,
  content: {
    'application/json': {
      schema: { type: 'object', properties: { status: { type: 'string', const: status } }, required: ['status'] },
    },
  },
});

function refusals(...groups: readonly (readonly [status: number, codes: readonly FailureCode[]])[]): Json {
  return Object.fromEntries(groups.map(([status, codes]) => [String(status), refusalResponse(status, codes)]));
}

/** A GET that needs no token and takes nothing. */
function open(operationId: string, summary: string, responses: Json): Json {
  const operation = { operationId, tags: ['service'], summary, description: `${summary}. Needs no token.` };
  return { get: { ...operation, responses, security: [] } };
}

const CREDENTIALS: Json = {
  type: 'object',
  properties: {
    grant_type: { type: 'string', const: 'client_credentials', description: 'When the query does not have it' },
    client_id: { type: 'string' },
    client_secret: { type: 'string' },
  },
  required: ['client_id', 'client_secret'],
};

const TOKEN: Json = {
  type: 'object',
  properties: {
    access_token: { type: 'string' },
    token_type: { type: 'string', const: 'Bearer' },
    expires_in: { type: 'string', description: 'Seconds, written as text' },
  },
  required: ['access_token', 'token_type', 'expires_in'],
};

export const TOKEN_PATH = '/oauth/client_credential/accesstoken';

const tokenItem: Json = {
  post: {
    operationId: 'createAccessToken',
    tags: ['authentication'],
    summary: 'Exchange client credentials for a token',
    description: 'Exchange client credentials for a bearer token (OAuth 2.0 client-credentials grant). Needs no token.',
    parameters: [
      {
        name: 'grant_type',
        in: 'query',
        description: 'client_credentials; may stand in the body instead.',
        schema: { type: 'string', enum: ['client_credentials'] },
      },
    ],
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': { schema: ref('schemas', 'ClientCredentials') },
        'application/json': { schema: ref('schemas', 'ClientCredentials') },
      },
    },
    responses: {
      '200': {
        description: 'A token.',
        content: { 'application/json': { schema: ref('schemas', 'AccessToken') } },
      },
      ...refusals(
        [400, ['auth.grant_type', 'field.missing', 'body.not_json']],
        [401, ['auth.client_refused']],
        [408, ['request.timeout']],
        [413, ['body.too_large']],
        [415, ['body.media_type']],
        [429, ['limit.rate']],
        [500, ['server.unexpected']],
      ),
    },
    security: [],
  },
};

const pathParameter = (name: string, description: string, schema: Json): Json => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
});

const BYTES: Json = { '*/*': { schema: { type: 'string', format: 'binary' } } };

const filesItem: Json = {
  get: {
    operationId: 'downloadFile',
    tags: ['files'],
    summary: 'Download a file by its signed link',
    description:
      'Download a file by one of the links in a document’s storage. The signature stands in for a token; a link is valid for 15 minutes. Byte ranges are supported.',
    parameters: [
      pathParameter('organization', 'Id of the organization.', { type: 'string' }),
      pathParameter('document', 'Id of the document.', { type: 'integer', format: 'int64', minimum: 1 }),
      pathParameter('variant', 'Which file of the document.', {
        type: 'string',
        enum: ['original', 'thumbnail', 'resized', 'cropped'],
      }),
      {
        name: 'expires',
        in: 'query',
        required: true,
        description: 'End of the link’s life, in seconds since 1970.',
        schema: { type: 'integer', format: 'int64' },
      },
      {
        name: 'signature',
        in: 'query',
        required: true,
        description: 'Signature of the link.',
        schema: { type: 'string' },
      },
      {
        name: 'Range',
        in: 'header',
        description: 'One byte range, such as bytes=0-1023.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      '200': { description: 'The file, as an attachment under its stored name.', content: BYTES },
      '206': { description: 'The range that was asked for.', content: BYTES },
      ...refusals([403, ['file.signature']], [404, ['record.not_found']]),
      '416': { description: 'The file has no such range.' },
      ...refusals([500, ['server.unexpected']]),
    },
    security: [],
  },
};

/** Schemas that only these routes use. */
export const SERVICE_SCHEMAS: Readonly<Record<string, Json>> = {
  ClientCredentials: CREDENTIALS,
  AccessToken: TOKEN,
  StreamMessage: STREAM_MESSAGE,
};

/** Path items of the routes beside the resources: tokens, the stream, signed files, health, metrics and this document. */
export const SERVICE_PATHS: Readonly<Record<string, Json>> = {
  [TOKEN_PATH]: tokenItem,
  [API_PREFIX + STREAM_PATH]: streamItem,
  '/files/{organization}/documents/{document}/{variant}': filesItem,
  '/healthz': open('healthz', 'Tell whether the process runs', { '200': state('It runs.', 'ok') }),
  '/readyz': open('readyz', 'Tell whether the store answers', {
    '200': state('It answers.', 'ready'),
    '503': state('It does not answer now, or its tables are those of another version (`reason`).', 'not ready'),
  }),
  '/metrics': open('metrics', 'Metrics in the Prometheus text format', {
    '200': text('The metrics.', 'text/plain'),
  }),
  '/openapi.json': open('openapi', 'This document', {
    '200': {
      description: 'The document, OpenAPI 3.1.',
      content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
    },
  }),
  '/docs': open('docs', 'The API reference as a page', { '200': text('The page.', 'text/html') }),
};
