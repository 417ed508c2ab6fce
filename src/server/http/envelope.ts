import { FAILURES, type FailureCode, type Problem, Refusal, type Warning, wireError } from '../../catalog/failures.ts';
import type { Answer } from '../service.ts';

/** Body of a successful answer (D6); `data` is JSON text already. */
export function successText(answer: Answer, warnings: readonly Warning[]): string {
  const meta = answer.meta === undefined ? '' : `,"meta":${JSON.stringify(answer.meta)}`;
  return `{"data":${answer.data},"warnings":${JSON.stringify(warnings)},"errors":[]${meta}}`;
}

/** Body of every other answer (D5). */
export function failureText(status: number, problems: readonly Problem[]): string {
  return JSON.stringify({ statusCode: status, data: null, warnings: [], errors: problems.map(wireError) });
}

interface Failed {
  readonly status: number;
  readonly problems: readonly Problem[];
  /** The server's own fault: worth a line in the log. */
  readonly unexpected: boolean;
}

/** What the framework or the database refuses by itself, as failures of our table. */
const FRAMEWORK: Readonly<Record<string, FailureCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body.too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'body.media_type',
  FST_ERR_CTP_EMPTY_TYPE: 'body.media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'request.malformed',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body.not_json',
  FST_ERR_BAD_URL: 'request.malformed',
  FST_ERR_HANDLER_TIMEOUT: 'request.timeout',
  // Another process, an import, held the database for too long: nothing was written.
  SQLITE_BUSY: 'request.timeout',
  STORE_TIMEOUT: 'request.timeout',
  STORE_AWAY: 'server.unavailable',
};

/** Any error as an answer; nothing of an unexpected one gets out (D5). */
export function failureOf(error: unknown): Failed {
  if (error instanceof Refusal) return { status: error.status, problems: error.problems, unexpected: false };
  const code = FRAMEWORK[(error as { code?: string } | null)?.code ?? ''];
  if (code !== undefined) return { status: FAILURES[code].status, problems: [problemOf(code)], unexpected: false };
  return { status: 500, problems: [problemOf('server.unexpected')], unexpected: true };
}

function problemOf(code: FailureCode): Problem {
  return { code, source: null, description: `${FAILURES[code].title}. ${FAILURES[code].next}` };
}
