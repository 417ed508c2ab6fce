import { API_PREFIX } from '../../catalog/catalog.ts';
import { STREAM_PATH } from '../../catalog/stream/messages.ts';
import { type Json, objectOf, ref } from './names.ts';
import { ID_SCHEMA, parameter } from './parameters.ts';
import { refusals } from './responses.ts';
import { STREAM_MESSAGE, streamItem } from './stream.ts';

const response = (description: string, media: string, schema: Json): Json => ({
  description,
  content: { [media]: { schema } },
});

const text = (description: string, media: string): Json => response(description, media, { type: 'string' });

const state = (description: string, status: string): Json =>
  response(description, 'application/json', objectOf({ status: { type: 'string', const: status } }));

const NOT_READY: Json = response(
  'The store does not respond, its tables are those of another version, the audit log cannot be written, or the server is stopping.',
  'application/json',
  {
    allOf: [ref('schemas', 'Failure')],
    ...objectOf({ status: { type: 'string', const: 'not ready' }, reason: { type: 'string' } }),
  },
);

/** A GET without token and parameters. */
function open(operationId: string, summary: string, responses: Json): Json {
  const operation = { operationId, tags: ['service'], summary, description: `${summary}. Requires no token.` };
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

const TOKEN = objectOf({
  access_token: { type: 'string' },
  token_type: { type: 'string', const: 'Bearer' },
  expires_in: { type: 'string', description: 'Seconds, written as text' },
});

/** Path of the route that exchanges client credentials for a token. */
export const TOKEN_PATH = '/oauth/client_credential/accesstoken';

const tokenItem: Json = {
  post: {
    operationId: 'createAccessToken',
    tags: ['authentication'],
    summary: 'Exchange client credentials for a token',
    description:
      'Exchange client credentials for a bearer token (OAuth 2.0 client-credentials grant). Requires no token.',
    parameters: [
      parameter('grant_type', 'query', 'client_credentials; may be in the body instead.', {
        schema: { type: 'string', enum: ['client_credentials'] },
      }),
    ],
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': { schema: ref('schemas', 'ClientCredentials') },
        'application/json': { schema: ref('schemas', 'ClientCredentials') },
      },
    },
    responses: {
      '200': response('A token.', 'application/json', ref('schemas', 'AccessToken')),
      ...refusals([
        ...(['auth.grant_type', 'field.missing', 'body.not_json', 'auth.client_refused', 'auth.origin'] as const),
        ...(['request.timeout', 'body.too_large', 'body.media_type', 'limit.rate', 'server.unexpected'] as const),
      ]),
    },
    security: [],
  },
};

const BYTES: Json = { '*/*': { schema: { type: 'string', format: 'binary' } } };

const filesItem: Json = {
  get: {
    operationId: 'downloadFile',
    tags: ['files'],
    summary: 'Download a file by its signed link',
    description:
      'Download a file by one of the links in a document’s storage. The signature replaces the token; a link is valid for 15 minutes. Byte ranges are supported.',
    parameters: [
      parameter('organization', 'path', 'Id of the organization.', { schema: { type: 'string' } }),
      parameter('document', 'path', 'Id of the document.', { schema: ID_SCHEMA }),
      parameter('variant', 'path', 'Which file of the document.', {
        schema: { type: 'string', enum: ['original', 'thumbnail', 'resized', 'cropped'] },
      }),
      parameter(
        'expires',
        'query',
        'When the link expires, in seconds since 1970.',
        { schema: { type: 'integer', format: 'int64' } },
        true,
      ),
      parameter('signature', 'query', 'Signature of the link.', { schema: { type: 'string' } }, true),
      parameter('Range', 'header', 'One byte range, such as bytes=0-1023.', { schema: { type: 'string' } }),
    ],
    responses: {
      '200': { description: 'The file, as an attachment under its stored name.', content: BYTES },
      '206': { description: 'The requested range.', content: BYTES },
      ...refusals(['file.signature', 'record.not_found', 'server.unexpected']),
      '416': { description: 'The file has no such range.' },
    },
    security: [],
  },
};

/** Schemas that only these routes use. */
export const SERVICE_SCHEMAS: Json = {
  ClientCredentials: CREDENTIALS,
  AccessToken: TOKEN,
  StreamMessage: STREAM_MESSAGE,
};

/** Path items of the routes beside the resources: tokens, the stream, signed files, health, metrics and this document. */
export const SERVICE_PATHS: Readonly<Record<string, Json>> = {
  [TOKEN_PATH]: tokenItem,
  [API_PREFIX + STREAM_PATH]: streamItem,
  '/files/{organization}/documents/{document}/{variant}': filesItem,
  '/healthz': open('healthz', 'Check whether the process is running', {
    '200': state('The process is running.', 'ok'),
  }),
  '/readyz': open('readyz', 'Check whether the server is to get requests', {
    '200': state('It is ready.', 'ready'),
    '503': NOT_READY,
  }),
  '/metrics': open('metrics', 'Metrics in the Prometheus text format', { '200': text('The metrics.', 'text/plain') }),
  '/openapi.json': open('openapi', 'This document', {
    '200': response('The document, OpenAPI 3.1.', 'application/json', { type: 'object', additionalProperties: true }),
  }),
  '/docs': open('docs', 'The API reference as a page', { '200': text('The page.', 'text/html') }),
};
