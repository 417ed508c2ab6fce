import type { Operation, Resource } from '../../catalog/define.ts';
import { FAILURES, type FailureCode } from '../../catalog/failures.ts';
import { CORRELATION_HEADER } from '../../catalog/stream/messages.ts';
import { isTagged } from '../http/etag.ts';
import { envelopeName } from './envelopes.ts';
import { exampleFailure, exampleResponse } from './examples.ts';
import { type Json, ref } from './names.ts';

/** Failures of every operation of the API and of the stream. */
export const COMMON_FAILURES: readonly FailureCode[] = [
  'auth.token_missing',
  'auth.token_malformed',
  'auth.token_unknown',
  'auth.token_expired',
  'request.organization_missing',
  'request.malformed',
  'auth.organization_forbidden',
  'auth.scope_missing',
  'request.timeout',
  'server.unexpected',
];

const FILTER: readonly FailureCode[] = ['filter.syntax', 'filter.key', 'filter.operator', 'filter.value'];

const BODY: readonly FailureCode[] = [
  'body.not_json',
  'body.shape',
  'body.unknown_property',
  'body.too_large',
  'body.media_type',
  'field.missing',
  'field.type',
  'field.length',
  'field.range',
  'field.choice',
  'field.format',
  'field.conflict',
  'field.duplicate',
  'field.link_unknown',
  'field.read_only',
];

const IDEMPOTENCY: readonly FailureCode[] = ['idempotency.key', 'idempotency.body_differs', 'idempotency.running'];

/** Every failure that an operation can respond with, in the order of the failure table. */
export function failuresOf(resource: Resource, operation: Operation): FailureCode[] {
  const { filters, filterRequired, paging, selectable, parameters, body, method, path } = operation;
  const keys = Object.values(filters ?? {});
  const possible = new Set<FailureCode>([
    ...COMMON_FAILURES,
    // Failed authentication is limited everywhere.
    'limit.rate',
    // Answers that wait to be read, and images, have a budget.
    ...(method === 'GET' || operation.largeBody ? (['limit.budget'] as const) : []),
    ...(filters ? FILTER : []),
    ...(filterRequired || keys.some((key) => key.required || key.willBeRequired) ? (['filter.missing'] as const) : []),
    ...(paging ? (['query.page_size', 'query.page'] as const) : []),
    ...(paging?.style === 'cursor' ? (['query.last_id'] as const) : []),
    ...(selectable ? (['query.fields'] as const) : []),
    ...(selectable === 'required' ? (['query.missing'] as const) : []),
    ...(parameters ? (['query.missing', 'field.choice'] as const) : []),
    ...(body ? BODY : []),
    ...(operation.largeBody ? (['file.content', 'server.images'] as const) : []),
    ...(method === 'POST' ? IDEMPOTENCY : []),
    // A path id that names no record, or a report without anything to report (D5, D33, D34).
    ...(path.includes('{') || resource.computed ? (['record.not_found'] as const) : []),
  ]);
  return (Object.keys(FAILURES) as FailureCode[]).filter((code) => possible.has(code));
}

/** Codes of a list by their HTTP status, statuses ascending. */
export function byStatus(codes: readonly FailureCode[]): ReadonlyMap<number, readonly FailureCode[]> {
  const groups = new Map<number, FailureCode[]>();
  for (const code of codes) {
    const { status } = FAILURES[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return new Map([...groups].sort(([a], [b]) => a - b));
}

/** Component names of the refusals that are alike everywhere, by status. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  413: 'BodyTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  500: 'UnexpectedError',
};

/** Headers of responses, by component name. */
export const SHARED_HEADERS: Json = {
  RequestId: { description: 'Id of the request, for support and logs.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  RateLimit: { description: 'Maximum requests in a burst.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests left in the current burst.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until a full burst is available again.', schema: { type: 'integer' } },
  Link: {
    description: 'The next page, as rel="next"; only on a full page requested with lastId.',
    schema: { type: 'string' },
  },
  CorrelationId: {
    description: 'Identifies the delivery on the stream: its messages have it as correlationId.',
    schema: { type: 'string', format: 'uuid' },
  },
  ETag: {
    description:
      'Identifies this response: the same request with it as If-None-Match gets 304, without a body, while nothing has changed. Responses above 8 KB have it if the request has any If-None-Match.',
    schema: { type: 'string' },
  },
  IdempotencyReplayed: {
    description: 'true: this is the first response to the same Idempotency-Key, sent again.',
    schema: { type: 'string', enum: ['true'] },
  },
};

const REQUEST_ID = { 'X-Request-ID': ref('headers', 'RequestId') };

const RATE_LIMIT = {
  'RateLimit-Limit': ref('headers', 'RateLimit'),
  'RateLimit-Remaining': ref('headers', 'RateLimitRemaining'),
  'RateLimit-Reset': ref('headers', 'RateLimitReset'),
};

const RETRY_AFTER = { 'Retry-After': ref('headers', 'RetryAfter') };

/** Refusals as components: the codes of each status, and what to do about them. */
export function sharedResponses(): Json {
  const all = byStatus(Object.keys(FAILURES) as FailureCode[]);
  const named = Object.entries(REFUSALS).map(([status, name]) => {
    return [name, refusalResponse(Number(status), all.get(Number(status)) ?? [])];
  });
  return Object.fromEntries(named);
}

/** A response that refuses with one of some codes. */
function refusalResponse(status: number, codes: readonly FailureCode[]): Json {
  const [code = 'server.unexpected'] = codes;
  return {
    description: codes.map((each) => `- \`${each}\`: ${FAILURES[each].title}. ${FAILURES[each].next}`).join('\n'),
    headers: {
      ...REQUEST_ID,
      ...([409, 429, 503].includes(status) && RETRY_AFTER),
      ...(status === 429 && RATE_LIMIT),
    },
    content: {
      'application/json': {
        schema: ref('schemas', 'Failure'),
        example: exampleFailure(status, code, null, FAILURES[code].next),
      },
    },
  };
}

/** Responses that refuse with some codes, by status. */
export function refusals(codes: readonly FailureCode[]): Json {
  const byCode = [...byStatus(codes)].map(([status, list]) => [String(status), refusalResponse(status, list)]);
  return Object.fromEntries(byCode);
}

/** Every response of an operation, by status. What can be wrong with a request (400) is its own, the rest is shared. */
export function responsesOf(resource: Resource, operation: Operation): Json {
  const shared = Object.entries(refusals(failuresOf(resource, operation))).map(([status, response]) => {
    const name = REFUSALS[Number(status)];
    return [status, name === undefined ? response : ref('responses', name)];
  });
  return { [operation.success]: successResponse(resource, operation), ...Object.fromEntries(shared) };
}

function successResponse(resource: Resource, operation: Operation): Json {
  return {
    description: `${operation.summary}.`,
    headers: {
      ...REQUEST_ID,
      ...(operation.rateLimited && RATE_LIMIT),
      ...(operation.shape === 'list' && operation.paging?.style === 'cursor' && { Link: ref('headers', 'Link') }),
      ...(isTagged(operation) && { ETag: ref('headers', 'ETag') }),
      ...(operation.shape === 'async' && { [CORRELATION_HEADER]: ref('headers', 'CorrelationId') }),
      ...(operation.method === 'POST' && { 'Idempotency-Replayed': ref('headers', 'IdempotencyReplayed') }),
    },
    content: {
      'application/json': {
        schema: ref('schemas', envelopeName(resource, operation)),
        example: exampleResponse(resource, operation),
      },
    },
  };
}
