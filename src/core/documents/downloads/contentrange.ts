import type { IncomingResponse } from '../../transport/send.ts';
import { lengthOf } from '../links/linkattempt.ts';

/** What tells one content of a file from another, so that a download can go on where it stopped. */
export interface Validator {
  /** Size of the whole file in bytes. */
  readonly total: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** The validator of an answer with the whole file; undefined without its size, or when it gives no ranges. */
export function validatorOf(headers: IncomingResponse['headers']): Validator | undefined {
  const total = lengthOf(headers);
  if (total === undefined || headers['accept-ranges']?.trim().toLowerCase() === 'none') return undefined;
  return { total, etag: headers.etag ?? null, lastModified: headers['last-modified'] ?? null };
}

/**
 * Headers that ask for the rest of a file behind `from` bytes, or for all of it when it is another by now (RFC 9110,
 * 13.1.5): `If-Range` takes a strong entity tag, else the date.
 */
export function rangeHeaders(from: number, { etag, lastModified }: Validator): Record<string, string> {
  const unless = etag !== null && isStrong(etag) ? etag : lastModified;
  return { range: `bytes=${from}-`, ...(unless !== null && { 'if-range': unless }) };
}

/** Whether the file can be told from a changed one by HTTP itself. */
export function isSure({ etag, lastModified }: Validator): boolean {
  return (etag !== null && isStrong(etag)) || lastModified !== null;
}

/**
 * Number of bytes in an answer 206 that goes on behind `from` in the same file; undefined when it is another piece, or
 * one of another file.
 */
export function continuedLength(
  from: number,
  validator: Validator,
  headers: IncomingResponse['headers'],
): number | undefined {
  const range = /^\s*bytes\s+(\d{1,15})-(\d{1,15})\/(\d{1,15})\s*$/i.exec(headers['content-range'] ?? '');
  const [start, end, total] = (range?.slice(1) ?? []).map(Number);
  if (start !== from || end === undefined || end < from || end >= validator.total) return undefined;
  if (total !== validator.total) return undefined;
  if (differ(headers.etag, validator.etag) || differ(headers['last-modified'], validator.lastModified))
    return undefined;
  const length = lengthOf(headers);
  return length === undefined || length === end - from + 1 ? end - from + 1 : undefined;
}

function differ(now: string | undefined, then: string | null): boolean {
  return now !== undefined && then !== null && now !== then;
}

function isStrong(etag: string): boolean {
  return /^"[^"]*"$/.test(etag);
}
