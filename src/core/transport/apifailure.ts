import { exitCodeOf, FAILURES, type FailureCode, isFailureCode } from '../../catalog/failures.ts';
import { Failure, type FailureItem } from '../failure.ts';

/** Statuses of a service that lacks the path or the method altogether. */
export const WITHOUT_ROUTE: readonly number[] = [404, 405, 501];

/** A response of the server other than success (D5). */
export class ApiFailure extends Failure {
  declare readonly status: number;

  constructor(
    status: number,
    /** Entries of the envelope's `errors`. */
    readonly problems: readonly FailureItem[],
    requestId: string | null,
  ) {
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
  }
}

const NEW_TOKEN =
  'Run molar login, or set MOLAR_TOKEN (or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET) to a valid one; molar doctor shows what is in use.';

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The server refused the request',
  401: 'The server rejected the token',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'The server timed out',
  409: 'The same request is still in progress on the server',
  413: 'The request body is too large for the server',
  415: 'The server does not accept this media type',
  429: 'Rate limit exceeded',
};

function messageOf(status: number, problems: readonly FailureItem[]): string {
  const meaning = MEANINGS[status] ?? (status >= 500 ? 'The server failed' : 'Unexpected response of the server');
  const [first, ...rest] = problems;
  if (first === undefined) return `${meaning} (HTTP ${status}).`;
  return rest.length === 0
    ? `${meaning} (HTTP ${status}): ${first.description}`
    : `${meaning} (HTTP ${status}): ${problems.length} problems.`;
}

/** Hints for a person at a shell, in place of those of the API for people who write requests. */
const HINTS: Partial<Record<FailureCode, string>> = {
  'auth.token_missing': NEW_TOKEN,
  'auth.token_malformed': NEW_TOKEN,
  'auth.token_unknown': NEW_TOKEN,
  'auth.token_expired': NEW_TOKEN,
  'auth.organization_forbidden':
    'Use an organization that the token was issued for (MOLAR_ORGANIZATION, --organization); molar doctor shows which is in use.',
  'route.unknown': 'Check the path and the address: it is what comes before /api/v1 (MOLAR_URL, --url).',
};

function hintOf(code: string, status: number): string | null {
  const own = HINTS[code as FailureCode];
  if (own !== undefined) return own;
  if (isFailureCode(code)) return FAILURES[code].next;
  if (status === 401) return NEW_TOKEN;
  if (status === 403) return HINTS['auth.organization_forbidden'] ?? null;
  if (status === 404) return 'Check the id, the organization and the URL.';
  if (status === 408) return FAILURES['request.timeout'].next;
  if (status === 429) return 'Wait a little, or run fewer commands at the same time.';
  if (status >= 500) return FAILURES['server.unexpected'].next;
  return null;
}
