import { FAILURES, type FailureCode } from '../../../src/catalog/failures.ts';
import type { Called } from '../calls.ts';

/** What only the inside of the server knows: traces, statements, places on the disk, names of parts. */
const INTERNALS =
  /\bat \S+ ?\(|\.[cm]?[jt]s:\d+|node_modules|sqlite|postgres|\bSELECT .* FROM\b|INSERT INTO|\bFST_|\bERR_[A-Z]|\bfastify\b|\bsharp\b|\bvips|\b(Type|Range|Syntax|Reference)Error\b|Cannot read prop|\[object \w+\]|\bundefined\b|\bNaN\b|(^|[\s"'(])\/(tmp|home|root|var|usr|work)\//i;

/** The part of a message that only somebody inside of the server could know. */
export function tellsOfTheInside(message: string): string | undefined {
  return INTERNALS.exec(message)?.[0];
}

/** Longest answer to bad input: a request of a megabyte must not ask for much more than it is. */
const LONGEST_REFUSAL = 2 * 1024 * 1024;

/** Statuses of refusals; 503 and others of the server are never an answer to bad input. */
const REFUSALS = new Set([400, 401, 403, 404, 405, 408, 409, 413, 415, 416, 417, 431]);

/** What is wrong with an answer, whatever was asked; nothing when it is as D5 and D6 say. `head`: no body is due. */
export function complaintsAbout(called: Called, head = false): string[] {
  const { status, headers, text } = called;
  const complaints: string[] = [];
  const must = (holds: boolean, what: string) => holds || complaints.push(what);
  must(typeof headers['x-request-id'] === 'string', 'no X-Request-ID');
  if (status >= 200 && status < 300) {
    if (head) return complaints;
    else complaints.push(...successComplaints(called));
  } else {
    must(REFUSALS.has(status), `status ${status}`);
    if (head) return complaints;
    else if (status !== 416) complaints.push(...refusalComplaints(called));
  }
  return complaints.length === 0 ? [] : [...complaints, `${status} ${text.slice(0, 1500)}`];
}

/** Health, the description of the interface and tokens have forms of their own. */
const NO_ENVELOPE = /^\{"(status|openapi|access_token)"/;

function successComplaints({ headers, text, body }: Called): string[] {
  if (!headers['content-type']?.startsWith('application/json') || NO_ENVELOPE.test(text)) return [];
  const isEnvelope = body.data !== undefined && Array.isArray(body.warnings) && body.errors.length === 0;
  if (!isEnvelope || !text.startsWith('{')) return ['no envelope'];
  return body.warnings.every((warning) => warning.title !== '' && warning.description !== '')
    ? []
    : ['an empty warning'];
}

function refusalComplaints({ status, headers, text, body }: Called): string[] {
  const complaints: string[] = [];
  const must = (holds: boolean, what: string) => holds || complaints.push(what);
  must(headers['content-type'] === 'application/json; charset=utf-8', `content type ${headers['content-type']}`);
  must(text.length <= LONGEST_REFUSAL, `${text.length} bytes`);
  const envelope = Object.keys(body).join();
  must(envelope === 'statusCode,data,warnings,errors' && body.data === null, `envelope ${envelope}`);
  must(body.statusCode === status, `statusCode ${body.statusCode}`);
  must(body.errors.length > 0, 'no errors');
  for (const { code, title, description, source } of body.errors.slice(0, 200)) {
    const failure = Object.hasOwn(FAILURES, code) ? FAILURES[code as FailureCode] : undefined;
    must(failure !== undefined && failure.title === title, `code ${code}, title ${title}`);
    must(failure?.status === status || status === 431 || status === 417, `code ${code} for ${status}`);
    must(typeof description === 'string' && description.trim() !== '', 'no description');
    must(status !== 400 || (typeof source === 'string' && source !== ''), `source ${source}`);
    const told = tellsOfTheInside(description);
    must(told === undefined, `tells of the inside: ${told}`);
    if (complaints.length > 5) break;
  }
  if (status === 405) must(headers.allow !== undefined, 'no Allow');
  return complaints;
}
