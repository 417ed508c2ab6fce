import { localFailure } from '../../failure.ts';
import type { IncomingResponse } from '../../transport/send.ts';
import { type ReportedDigest, reportedDigest } from '../links/contentdigest.ts';
import type { DocumentLink } from '../links/documentlink.ts';
import {
  type Attempt,
  attemptLink,
  type LinkFetching,
  LinkRefused,
  type LinkResponse,
  lengthOf,
  ofLength,
  pauseBefore,
  UntrustedContent,
} from '../links/fetchlink.ts';
import { isStrong, type PartFile } from './partfile.ts';
import type { Validator } from './partnote.ts';

/** The content received: its size in bytes and its SHA-256 in hex. */
export interface Received {
  readonly bytes: number;
  readonly sha256: string;
}

/** After an attempt that brought so many bytes, retries are counted anew: a line that breaks all the time gets there. */
const PROGRESS = 256 * 1024;

/**
 * Completes a part: resumes after the bytes received where the server allows it, starts again where the file has
 * changed. Size and digest are checked where the server reports them, and a link that has expired is renewed. Throws a
 * Failure after as many retries as a GET has; the part then holds what was received.
 */
export async function receiveFile(
  part: PartFile,
  link: DocumentLink,
  fetching: LinkFetching,
  onBytes?: (bytes: number) => void,
): Promise<Received> {
  let best = part.size;
  for (let failed = 0; ; ) {
    const attempt = await receiveOnce(part, link, fetching, onBytes);
    if ('value' in attempt) return { bytes: part.size, sha256: part.sha256() };
    if (part.size - best >= PROGRESS) {
      best = part.size;
      failed = 0;
    }
    if (attempt.failure instanceof LinkRefused) {
      const { guid } = link;
      await link.renew(attempt.failure);
      if (link.guid !== guid) await part.begin(undefined);
      continue;
    }
    failed++;
    if (!attempt.retryable || failed > fetching.retry.maxRetries) throw attempt.failure;
    await pauseBefore(failed, fetching, attempt.retryAfter);
  }
}

async function receiveOnce(
  part: PartFile,
  link: DocumentLink,
  fetching: LinkFetching,
  onBytes?: (bytes: number) => void,
): Promise<Attempt<true>> {
  const { validator } = part;
  // Of a complete part the last byte is requested again: the response tells whether the file is still the same.
  const from = part.canResume && validator !== undefined ? Math.min(part.size, validator.total - 1) : 0;
  const request =
    validator === undefined || from === 0
      ? { statuses: [200] }
      : { headers: rangeHeaders(from, validator), statuses: [200, 206, 416] };
  const attempt = await attemptLink(link.url(), fetching, request, async (response) => {
    link.worked();
    const chunks = await bodyOf(response, part, from);
    for await (const chunk of chunks) {
      await part.write(chunk);
      onBytes?.(chunk.byteLength);
    }
    return reportedDigest(response.status, response.headers);
  });
  if ('value' in attempt) return checked(part, attempt.value);
  if (attempt.failure.cause instanceof UntrustedContent) await part.begin(undefined);
  return attempt;
}

/** The bytes to write, the part made ready for them. */
async function bodyOf(
  { status, headers, chunks }: LinkResponse,
  part: PartFile,
  from: number,
): Promise<AsyncIterable<Uint8Array>> {
  if (status === 200) {
    await part.begin(validatorOf(headers));
    return ofLength(chunks, lengthOf(headers));
  }
  const length = status === 206 && part.validator ? resumedLength(from, part.validator, headers) : undefined;
  if (length === undefined) throw new UntrustedContent('The file changed on the server while it was being downloaded.');
  await part.truncate(from);
  return ofLength(chunks, length);
}

async function checked(part: PartFile, reported: ReportedDigest | undefined): Promise<Attempt<true>> {
  const total = part.validator?.total ?? part.size;
  const failed = (message: string) => ({ failure: localFailure('network.unreachable', message), retryable: true });
  if (part.size < total) return failed(`The download ended after ${part.size} of ${total} bytes.`);
  if (reported === undefined) return { value: true };
  const { algorithm, value } = reported;
  if (value === (algorithm === 'sha256' ? part.sha256() : await part.digest(algorithm))) return { value: true };
  await part.begin(undefined);
  return failed(`The downloaded content does not have the ${NAMES[algorithm]} that the server reports.`);
}

const NAMES = { sha256: 'SHA-256', sha512: 'SHA-512', md5: 'MD5' } as const;

/** The validator of a response with the complete file; undefined without its size, or when it supports no ranges. */
function validatorOf(headers: IncomingResponse['headers']): Validator | undefined {
  const total = lengthOf(headers);
  if (total === undefined || headers['accept-ranges']?.trim().toLowerCase() === 'none') return undefined;
  return { total, etag: headers.etag ?? null, lastModified: headers['last-modified'] ?? null };
}

/** Headers for the rest of a file after `from` bytes, or all of it when it has changed (RFC 9110, 13.1.5). */
function rangeHeaders(from: number, { etag, lastModified }: Validator): Record<string, string> {
  const unless = etag !== null && isStrong(etag) ? etag : lastModified;
  return { range: `bytes=${from}-`, ...(unless !== null && { 'if-range': unless }) };
}

/** Bytes in a 206 that continues the same file after `from`; undefined for another range, or another file. */
function resumedLength(from: number, validator: Validator, headers: IncomingResponse['headers']): number | undefined {
  const range = /^\s*bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15})\s*$/i.exec(headers['content-range'] ?? '');
  const [start, end, total] = (range?.slice(1) ?? []).map(Number);
  if (start !== from || end === undefined || end < from || end >= validator.total) return undefined;
  if (total !== validator.total) return undefined;
  if (differ(headers.etag, validator.etag) || differ(headers['last-modified'], validator.lastModified))
    return undefined;
  const length = end - from + 1;
  return (lengthOf(headers) ?? length) === length ? length : undefined;
}

function differ(now: string | undefined, then: string | null): boolean {
  return now !== undefined && then !== null && now !== then;
}
