import { FAILURES, type FailureCode, type Problem, Refusal, type Warning, wireError } from '../../catalog/failures.ts';
import type { OperationResponse } from '../service.ts';
import { AuditFault } from '../store/faults.ts';

/** Content type of every body of the API. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Headers of every response: not cached, sniffed, framed, or active in a browser. `/docs` has a policy of its own. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
};

/** Sent over TLS only: browsers do not go back to plain HTTP for a year. */
export const TLS_HEADERS: Readonly<Record<string, string>> = {
  'strict-transport-security': 'max-age=31536000',
};

const BEFORE_DATA = '{"data":';
const BYTES_BEFORE_DATA = Buffer.from(BEFORE_DATA);

/** What follows the data of most responses. */
const NOTHING_MORE = ',"warnings":[],"errors":[]}';
const BYTES_OF_NOTHING_MORE = Buffer.from(NOTHING_MORE);

/** Body of a successful response (D6), in bytes when its `data` is. */
export function successBody({ data, meta }: OperationResponse, warnings: readonly Warning[]): string | Buffer {
  const after = afterData(meta, warnings);
  if (typeof data === 'string') return BEFORE_DATA + data + after;
  const end = after === NOTHING_MORE ? BYTES_OF_NOTHING_MORE : Buffer.from(after);
  return Buffer.concat([BYTES_BEFORE_DATA, ...data, end]);
}

function afterData(meta: OperationResponse['meta'], warnings: readonly Warning[]): string {
  if (warnings.length === 0 && meta === undefined) return NOTHING_MORE;
  const metaText = meta === undefined ? '' : `,"meta":${JSON.stringify(meta)}`;
  return `,"warnings":${JSON.stringify(warnings)},"errors":[]${metaText}}`;
}

/** Body of every other response (D5). */
export function failureBody(status: number, problems: readonly Problem[]) {
  return { statusCode: status, data: null, warnings: [], errors: problems.map(wireError) };
}

/** The same as text. */
export function failureText(status: number, problems: readonly Problem[]): string {
  return JSON.stringify(failureBody(status, problems));
}

interface Failure {
  readonly status: number;
  readonly problems: readonly Problem[];
  /** Not caused by the caller: logged. */
  readonly unexpected: boolean;
}

/** Error codes of the framework and the stores, as failures of our table. */
const FRAMEWORK: Readonly<Record<string, FailureCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body.too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'body.media_type',
  FST_ERR_CTP_EMPTY_TYPE: 'body.media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'request.malformed',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body.not_json',
  FST_ERR_BAD_URL: 'request.malformed',
  WORK_TIMEOUT: 'request.timeout',
  // Another process, such as an import, locked the database for too long: nothing was written.
  SQLITE_BUSY: 'request.timeout',
  STORE_TIMEOUT: 'request.timeout',
  STORE_AWAY: 'server.unavailable',
};

/** The part of a request that the framework refused. */
const SOURCES: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'path',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'Content-Length',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body',
};

/** Error codes of the system, SQLite and the stores for a disk that is full or read-only. */
const DISK = /^(?:ENOSPC|EDQUOT|EFBIG|EROFS|EIO|SQLITE_(?:FULL|IOERR|READONLY)|STORE_FULL)/;

const DISK_FAULT: Problem = {
  code: 'server.unavailable',
  source: null,
  description: 'The disk of this server is full or read-only. Try again when it has free space.',
};

/** Any error as a failure; nothing of an unexpected one is disclosed (D5). */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refusal) return failure(error.status, error.problems);
  const name = (error as { code?: string } | null)?.code ?? '';
  if (DISK.test(name)) return failure(FAILURES[DISK_FAULT.code].status, [DISK_FAULT]);
  const code = FRAMEWORK[name] ?? (error instanceof AuditFault ? 'audit.unavailable' : 'server.unexpected');
  const { status, title, next } = FAILURES[code];
  return failure(status, [{ code, source: SOURCES[name] ?? null, description: `${title}. ${next}` }]);
}

function failure(status: number, problems: readonly Problem[]): Failure {
  return { status, problems, unexpected: status >= 500 };
}
