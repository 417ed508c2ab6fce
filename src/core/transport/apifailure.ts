import { exitCodeOf, FAILURES, type FailureCode } from '../../catalog/failures.ts';
import { Failure, type FailureItem } from '../failure.ts';

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

function hintOf(code: string, status: number): string | null {
  if (Object.hasOwn(FAILURES, code)) return FAILURES[code as FailureCode].next;
  if (status === 401) return FAILURES['auth.token_unknown'].next;
  if (status === 403) return FAILURES['auth.organization_forbidden'].next;
  if (status === 404) return 'Check the id, the organization and the URL.';
  if (status === 408) return FAILURES['request.timeout'].next;
  if (status === 429) return 'Wait a little, or run fewer commands at a time.';
  if (status >= 500) return FAILURES['server.unexpected'].next;
  return null;
}
