import { FAILURES, type FailureCode, type Problem, Refusal, type Warning, wireError } from '../../catalog/failures.ts';
import type { Answer } from '../service.ts';

const BEFORE_DATA = '{"data":';
const BYTES_BEFORE_DATA = Buffer.from(BEFORE_DATA);

/** What follows the data of most answers. */
const NOTHING_MORE = ',"warnings":[],"errors":[]}';
const BYTES_OF_NOTHING_MORE = Buffer.from(NOTHING_MORE);

/** Body of a successful answer (D6), in bytes when its `data` is. */
export function successBody(answer: Answer, warnings: readonly Warning[]): string | Buffer {
  const { data } = answer;
  if (typeof data === 'string') return BEFORE_DATA + data + afterData(answer, warnings);
  const after = afterData(answer, warnings);
  return Buffer.concat([
    BYTES_BEFORE_DATA,
    ...data,
    after === NOTHING_MORE ? BYTES_OF_NOTHING_MORE : Buffer.from(after),
  ]);
}

/** Body of a successful answer as text, to be kept. */
export function successText(answer: Answer, warnings: readonly Warning[]): string {
  return successBody(answer, warnings).toString();
}

function afterData({ meta }: Answer, warnings: readonly Warning[]): string {
  if (warnings.length === 0 && meta === undefined) return NOTHING_MORE;
  const told = warnings.length === 0 ? '[]' : JSON.stringify(warnings);
  return `,"warnings":${told},"errors":[]${meta === undefined ? '' : `,"meta":${JSON.stringify(meta)}`}}`;
}

/** Body of every other answer (D5). */
export function failureText(status: number, problems: readonly Problem[]): string {
  return JSON.stringify({ statusCode: status, data: null, warnings: [], errors: problems.map(wireError) });
}

interface Failed {
  readonly status: number;
  readonly problems: readonly Problem[];
  /** Not the caller's doing: worth a line in the log. */
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
  WORK_TIMEOUT: 'request.timeout',
  // Another process, an import, held the database for too long: nothing was written.
  SQLITE_BUSY: 'request.timeout',
  STORE_TIMEOUT: 'request.timeout',
  STORE_AWAY: 'server.unavailable',
};

/** What is at fault in what the framework refuses. */
const SOURCES: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'path',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'Content-Length',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body',
};

/** What the system, SQLite and the store call a disk that is full or takes no writes: the request did nothing wrong. */
const DISK = /^(?:ENOSPC|EDQUOT|EFBIG|EROFS|EIO|SQLITE_(?:FULL|IOERR|READONLY)|STORE_FULL)/;

const DISK_FAULT: Problem = {
  code: 'server.unavailable',
  source: null,
  description: 'The disk of this server is full, or takes no writes now. Try again when there is space on it.',
};

/** Any error as an answer; nothing of an unexpected one gets out (D5). */
export function failureOf(error: unknown): Failed {
  if (error instanceof Refusal) return failed(error.status, error.problems);
  const name = (error as { code?: string } | null)?.code ?? '';
  if (DISK.test(name)) return failed(FAILURES[DISK_FAULT.code].status, [DISK_FAULT]);
  const code = FRAMEWORK[name] ?? 'server.unexpected';
  return failed(FAILURES[code].status, [problemOf(code, SOURCES[name] ?? null)]);
}

function failed(status: number, problems: readonly Problem[]): Failed {
  return { status, problems, unexpected: status >= 500 };
}

function problemOf(code: FailureCode, source: string | null): Problem {
  return { code, source, description: `${FAILURES[code].title}. ${FAILURES[code].next}` };
}
