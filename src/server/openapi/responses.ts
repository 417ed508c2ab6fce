import type { Operation, Resource } from '../../catalog/define.ts';
import { FAILURES, type FailureCode } from '../../catalog/failures.ts';
import { CORRELATION_HEADER } from '../../catalog/stream/messages.ts';
import { answered, dataForm, exampleAnswer, exampleFailure, paginationNames } from './answers.ts';
import { byStatus, failuresOf } from './failures.ts';
import { byName, type Json, ref } from './json.ts';
import { typeNameWith } from './names.ts';

/** Component names of the answers that refuse alike everywhere, by status. */
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

/** Headers of answers, by component name. */
export const SHARED_HEADERS: Readonly<Record<string, Json>> = {
  RequestId: { description: 'Name of the request, for support and logs.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait before the next try.', schema: { type: 'integer', minimum: 1 } },
  RateLimit: { description: 'Requests that a burst may have.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests left of it.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until it is full again.', schema: { type: 'integer' } },
  Link: {
    description: 'The next page, as rel="next": on a full page that was asked for by lastId.',
    schema: { type: 'string' },
  },
  CorrelationId: {
    description: 'Names the delivery to the stream: its messages carry it as correlationId.',
    schema: { type: 'string', format: 'uuid' },
  },
  IdempotencyReplayed: {
    description: 'true: this is the first answer to the same Idempotency-Key, given again.',
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

/** Answers that refuse, as components: the codes of each status, and what to do about them. */
export function sharedResponses(): Readonly<Record<string, Json>> {
  const all = byStatus(Object.keys(FAILURES) as FailureCode[]);
  return byName(
    Object.entries(REFUSALS).map(([status, name]) => {
      const number = Number(status);
      return [name, refusalResponse(number, all.get(number) ?? [])] as const;
    }),
  );
}

/** An answer that refuses with one of some codes. */
export function refusalResponse(status: number, codes: readonly FailureCode[]): Json {
  const [code = 'server.unexpected'] = codes;
  const example = exampleFailure(status, { code, source: null, description: FAILURES[code].next });
  const description = codes.map((each) => `- \`${each}\`: ${FAILURES[each].title}. ${FAILURES[each].next}`).join('\n');
  return {
    description,
    headers: {
      ...REQUEST_ID,
      ...((status === 429 || status === 409) && RETRY_AFTER),
      ...(status === 429 && RATE_LIMIT),
    },
    content: { 'application/json': { schema: ref('schemas', 'Failure'), example } },
  };
}

/** Every answer of an operation, by status. What can be wrong with a request (400) is its own, the rest is shared. */
export function responsesOf(resource: Resource, operation: Operation): Json {
  const refusals = [...byStatus(failuresOf(resource, operation))].map(([status, codes]) => {
    const name = REFUSALS[status];
    const response = name === undefined ? refusalResponse(status, codes) : ref('responses', name);
    return [String(status), response] as const;
  });
  return { [operation.success]: successResponse(resource, operation), ...byName(refusals) };
}

function successResponse(resource: Resource, operation: Operation): Json {
  return {
    description: `${operation.summary}.`,
    headers: {
      ...REQUEST_ID,
      ...(operation.rateLimited && RATE_LIMIT),
      ...(operation.shape === 'list' && operation.paging?.style === 'cursor' && { Link: ref('headers', 'Link') }),
      ...(operation.shape === 'async' && { [CORRELATION_HEADER]: ref('headers', 'CorrelationId') }),
      ...(operation.method === 'POST' && { 'Idempotency-Replayed': ref('headers', 'IdempotencyReplayed') }),
    },
    content: {
      'application/json': {
        schema: ref('schemas', wrapperName(resource, operation)),
        example: exampleAnswer(resource, operation),
      },
    },
  };
}

/** The name of an operation's envelope; bulk reads have those of the specification. */
export function wrapperName(resource: Resource, operation: Operation): string {
  const { name } = answered(resource, operation);
  switch (dataForm(resource, operation)) {
    case 'counts':
      return typeNameWith(resource.type, 'CountResponseWrapper');
    case 'deleted':
      return 'DeletedResponseWrapper';
    case 'record':
      return typeNameWith(name, 'ResponseWrapper');
    case 'records':
      return typeNameWith(name, paginationNames(operation) ? 'BulkResponseWrapper' : 'ListResponseWrapper');
  }
}
