/**
 * The failure table: one row per stable code (D5). Servers respond with `status`, commands exit with the code that
 * `exitCodeOf` gives for it, and every row names a next step for the person who sees it.
 */
interface Failure {
  readonly status: number;
  readonly title: string;
  readonly next: string;
}

const SEE_FILTERS = 'Write terms as key, operator, value, joined by commas: lastName~=Sm,patientStatus==ACTIVE';
const NEW_TOKEN = 'Send a valid token: set MOLAR_TOKEN, or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET.';

export const FAILURES = {
  'auth.token_missing': { status: 401, title: 'Token missing', next: NEW_TOKEN },
  'auth.token_malformed': { status: 401, title: 'Token malformed', next: NEW_TOKEN },
  'auth.token_unknown': { status: 401, title: 'Token not accepted', next: NEW_TOKEN },
  'auth.token_expired': { status: 401, title: 'Token expired', next: 'Request a new token.' },
  'auth.certificate_refused': {
    status: 401,
    title: 'Certificate not accepted',
    next: 'Use a valid certificate of an authority that the server trusts, or send a token.',
  },
  'auth.client_refused': { status: 401, title: 'Client refused', next: 'Check the client id and secret.' },
  'auth.grant_type': { status: 400, title: 'Grant type not supported', next: 'Use grant_type=client_credentials.' },
  'auth.origin': {
    status: 403,
    title: 'Page of another site',
    next: 'Request tokens from a program of your own, never from a page.',
  },
  'auth.organization_forbidden': {
    status: 403,
    title: 'Organization not allowed',
    next: 'Use an organization that the token was issued for (MOLAR_ORGANIZATION).',
  },
  'auth.scope_missing': { status: 403, title: 'Scope missing', next: 'Use a token that has the scope named here.' },
  'request.organization_missing': {
    status: 400,
    title: 'Organization missing',
    next: 'Send the Organization-ID header (MOLAR_ORGANIZATION).',
  },
  'request.malformed': { status: 400, title: 'Malformed request', next: 'Check the URL and the headers.' },
  'request.timeout': {
    status: 408,
    title: 'Request timed out',
    next: 'Try again with a narrower filter or a smaller page.',
  },
  'route.unknown': { status: 404, title: 'Unknown route', next: 'Check the path; GET /docs lists every route.' },
  'route.method': {
    status: 405,
    title: 'Method not allowed',
    next: 'The Allow header lists the methods of this route.',
  },
  'record.not_found': { status: 404, title: 'Not found', next: 'Check the id and the organization.' },
  'body.too_large': { status: 413, title: 'Body too large', next: 'Send a smaller body.' },
  'body.media_type': { status: 415, title: 'Media type not supported', next: 'Send application/json.' },
  'body.not_json': { status: 400, title: 'Body is not JSON', next: 'Send one valid JSON document.' },
  'body.shape': { status: 400, title: 'Body has the wrong shape', next: 'Send what the description names.' },
  'body.unknown_property': {
    status: 400,
    title: 'Unknown property',
    next: 'Remove it, or use one of the names listed.',
  },
  'field.missing': { status: 400, title: 'Required value missing', next: 'Send the value named in source.' },
  'field.type': { status: 400, title: 'Wrong type', next: 'Send a value of the type named here.' },
  'field.length': { status: 400, title: 'Wrong length', next: 'Shorten or fill the value.' },
  'field.range': { status: 400, title: 'Out of range', next: 'Send a value inside the range named here.' },
  'field.choice': { status: 400, title: 'Not a listed value', next: 'Use one of the values listed.' },
  'field.format': { status: 400, title: 'Wrong format', next: 'Write the value in the format named here.' },
  'field.conflict': { status: 400, title: 'Values conflict', next: 'Change one of the values named here.' },
  'field.duplicate': { status: 400, title: 'Duplicate value', next: 'Send each value once.' },
  'field.link_unknown': {
    status: 400,
    title: 'Linked record unknown',
    next: 'Use the id of a record of this organization.',
  },
  'field.read_only': { status: 400, title: 'Read-only', next: 'Leave the value out.' },
  'filter.missing': { status: 400, title: 'Filter missing', next: SEE_FILTERS },
  'filter.syntax': { status: 400, title: 'Filter not understood', next: SEE_FILTERS },
  'filter.key': { status: 400, title: 'Filter key not supported', next: 'Use one of the keys listed.' },
  'filter.operator': { status: 400, title: 'Filter operator not supported', next: 'Use one of the operators listed.' },
  'filter.value': { status: 400, title: 'Filter value not valid', next: 'Write the value as described here.' },
  'query.page_size': {
    status: 400,
    title: 'Page size not valid',
    next: 'Use a page size inside the range named here.',
  },
  'query.page': { status: 400, title: 'Page not valid', next: 'Use a page number from 1 on.' },
  'query.last_id': {
    status: 400,
    title: 'lastId not valid',
    next: 'Use the id of the last record of the previous page.',
  },
  'query.fields': { status: 400, title: 'Unknown field', next: 'Use field names listed here, or ALL.' },
  'query.missing': { status: 400, title: 'Parameter missing', next: 'Send the parameter named in source.' },
  'stream.position': {
    status: 400,
    title: 'Stream position not valid',
    next: 'Send the id of the last message seen, or 0 for the oldest that is kept.',
  },
  'stream.routing_key': {
    status: 400,
    title: 'Routing key not valid',
    next: 'Write segments joined by dots: * stands for one, # for any number.',
  },
  'limit.rate': {
    status: 429,
    title: 'Rate limit exceeded',
    next: 'Wait as long as Retry-After says, then try again.',
  },
  'limit.budget': {
    status: 429,
    title: 'Too much at once',
    next: 'Read or wait for what is under way; try again after Retry-After.',
  },
  'idempotency.key': {
    status: 400,
    title: 'Idempotency-Key not valid',
    next: 'Send 1 to 255 visible ASCII characters.',
  },
  'idempotency.body_differs': {
    status: 400,
    title: 'Idempotency-Key used before',
    next: 'Use a new key for a new request.',
  },
  'idempotency.running': {
    status: 409,
    title: 'First request still running',
    next: 'Try again in a moment with the same key.',
  },
  'file.content': { status: 400, title: 'File content not valid', next: 'Send the bytes of the file, base64-encoded.' },
  'file.signature': { status: 403, title: 'Link not valid', next: 'Get the document again for a fresh link.' },
  'server.unexpected': {
    status: 500,
    title: 'Unexpected error',
    next: 'Try again; report the request id if it persists.',
  },
  'audit.unavailable': { status: 503, title: 'Audit log not available', next: 'Try again in a moment.' },
  'server.unavailable': { status: 503, title: 'Not ready', next: 'Try again in a moment.' },
  'server.images': {
    status: 503,
    title: 'Images cannot be cropped',
    next: 'Install molar again on the server with its optional package sharp, or send the image without a crop.',
  },
} as const satisfies Record<string, Failure>;

export type FailureCode = keyof typeof FAILURES;

/** One entry of the envelope's `errors` before it is dressed with its title: `source` is the body field path, filter key, query parameter or header at fault. */
export interface Problem {
  readonly code: FailureCode;
  readonly source: string | null;
  readonly description: string;
}

/** One entry of the envelope's `warnings`. */
export interface Warning {
  readonly title: string;
  readonly description: string;
  readonly source: string | null;
}

/** An `errors` item as it stands on the wire (D5). */
export interface WireError extends Problem {
  readonly title: string;
}

export function wireError(problem: Problem): WireError {
  return {
    code: problem.code,
    title: FAILURES[problem.code].title,
    description: problem.description,
    source: problem.source,
  };
}

/** Problems that one refusal tells of: a body can hold many thousands, and nobody mends more at once. */
export const MAX_PROBLEMS = 100;

/** Refuses a request or a local input with all its problems at once, the first hundred of them. */
export class Refusal extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const told = problems.slice(0, MAX_PROBLEMS);
    super(told.map((problem) => problem.description).join(' '));
    this.name = 'Refusal';
    this.problems = told;
  }

  /** HTTP status of the first problem: problems of one request share a status. */
  get status(): number {
    const first = this.problems[0];
    return first ? FAILURES[first.code].status : 500;
  }
}

/** Whether a code is one of ours (D5): other services may have codes of their own, or none. */
export function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(FAILURES, code);
}

export function refusal(code: FailureCode, source: string | null, description: string): Refusal {
  return new Refusal([{ code, source, description }]);
}

export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  auth: 3,
  notFound: 4,
  refused: 5,
  partial: 6,
  throttled: 7,
  network: 8,
  file: 9,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** Exit code for an HTTP status (contract §4); one that no request asks for is a failure of the server. */
export function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.auth;
  if (status === 404) return EXIT.notFound;
  if (status === 429 || status === 408) return EXIT.throttled;
  return status >= 400 && status < 500 ? EXIT.refused : EXIT.network;
}
