import { exitCodeOf, FAILURES, type FailureCode, isFailureCode } from '../../catalog/failures.ts';
import { Failure, type FailureItem } from '../failure.ts';

/** Statuses of a service that does not have what was asked for at all: neither this path nor this method. */
export const WITHOUT_ROUTE: readonly number[] = [404, 405, 501];

/** The server answered with something other than success (D5). */
export class ApiFailure extends Failure {
  declare readonly status: number;
  /** Entries of the envelope's `errors`. */
  readonly problems: readonly FailureItem[];

  constructor(status: number, problems: readonly FailureItem[], requestId: string | null) {
    const code = problems[0]?.code ?? `http.${status}`;
    super(messageOf(status, problems), {
      code,
      exitCode: exitCodeOf(status),
      status,
      requestId,
      items: problems,
      hint: hintOf(code, status),
    });
    this.name = 'ApiFailure';
    this.problems = problems;
  }
}

const NEW_TOKEN =
  'Run molar login, or set MOLAR_TOKEN (or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET) to what is valid now; molar doctor tells what is in use.';

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The server refused the request',
  401: 'The server did not accept the token',
  403: 'Not allowed',
  404: 'Not found',
  405: 'The server does not take this method here',
  408: 'The server timed out',
  409: 'The same request is still running on the server',
  413: 'The body is too large for the server',
  415: 'The server does not take this media type',
  429: 'The rate limit was exceeded',
};

function messageOf(status: number, problems: readonly FailureItem[]): string {
  const meaning = MEANINGS[status] ?? (status >= 500 ? 'The server failed' : 'The server gave an unexpected answer');
  const [first, ...rest] = problems;
  if (first === undefined) return `${meaning} (HTTP ${status}).`;
  return rest.length === 0
    ? `${meaning} (HTTP ${status}): ${first.description}`
    : `${meaning} (HTTP ${status}): ${problems.length} problems.`;
}

/** What helps a person at a shell, where the table of the API speaks to those who write requests. */
const HINTS: Partial<Record<FailureCode, string>> = {
  'auth.token_missing': NEW_TOKEN,
  'auth.token_malformed': NEW_TOKEN,
  'auth.token_unknown': NEW_TOKEN,
  'auth.token_expired': NEW_TOKEN,
  'auth.organization_forbidden':
    'Use an organization that the token was issued for (MOLAR_ORGANIZATION, --organization); molar doctor tells which is in use.',
  'route.unknown': 'Check the path, and the address: it is what stands before /api/v1 (MOLAR_URL, --url).',
};

function hintOf(code: string, status: number): string | null {
  const own = HINTS[code as FailureCode];
  if (own !== undefined) return own;
  if (isFailureCode(code)) return FAILURES[code].next;
  if (status === 401) return NEW_TOKEN;
  if (status === 403) return HINTS['auth.organization_forbidden'] ?? null;
  if (status === 404) return 'Check the id, the organization and the URL.';
  if (status === 408) return FAILURES['request.timeout'].next;
  if (status === 429) return 'Wait a little, or run fewer commands at a time.';
  if (status >= 500) return FAILURES['server.unexpected'].next;
  return null;
}
