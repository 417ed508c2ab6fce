import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttemptEnd,
  DEFAULT_RETRY,
  decideRetry,
  type RequestTraits,
  type RetryDecision,
  retryAfterOf,
  retryDelay,
} from '../../../src/core/transport/retry.ts';

const READ: RequestTraits = { repeatable: true, keyed: false };
const POST: RequestTraits = { repeatable: false, keyed: true };
const REPLACING: RequestTraits = { repeatable: true, keyed: true };
const completed = (status: number): AttemptEnd => ({ kind: 'completed', status });
const lost = (sent: boolean, permanent = false): AttemptEnd => ({ kind: 'lost', sent, permanent });

const STOP = { retry: false, outcomeUnknown: false };
const RETRY = { retry: true, outcomeUnknown: false };
/** Look, then send again; and look, then give up. */
const SETTLE = { retry: true, outcomeUnknown: true };
const CHECK = { retry: false, outcomeUnknown: true };

describe('judge', () => {
  it.each<[string, AttemptEnd, RequestTraits, RetryDecision]>([
    ['a read that succeeded', completed(200), READ, STOP],
    ['a read whose answer is too large', lost(true, true), READ, STOP],
    ['a write whose answer is too large', lost(true, true), POST, CHECK],
    ['a read with 408', completed(408), READ, RETRY],
    ['a read with 429', completed(429), READ, RETRY],
    ['a read with 500', completed(500), READ, RETRY],
    ['a read with 502 of a gateway', completed(502), READ, RETRY],
    ['a read with 503', completed(503), READ, RETRY],
    ['a read with 504 of a gateway', completed(504), READ, RETRY],
    ['a read with 501', completed(501), READ, STOP],
    ['a read with 400', completed(400), READ, STOP],
    ['a read with 401', completed(401), READ, STOP],
    ['a read with 403', completed(403), READ, STOP],
    ['a read with 404', completed(404), READ, STOP],
    ['a read with 409', completed(409), READ, STOP],
    ['a read that was cut off', lost(true), READ, RETRY],
    ['a read over an untrusted certificate', lost(false, true), READ, STOP],
    ['a POST that succeeded', completed(201), POST, STOP],
    ['a POST with 400', completed(400), POST, STOP],
    ['a POST with 401', completed(401), POST, STOP],
    ['a POST over the rate limit', completed(429), POST, RETRY],
    ['a POST that failed', completed(500), POST, SETTLE],
    ['a POST that the server cannot do', completed(501), POST, CHECK],
    ['a POST not taken yet', completed(503), POST, SETTLE],
    ['a POST with a status of no standard', completed(520), POST, CHECK],
    ['a POST that timed out', completed(408), POST, SETTLE],
    ['a POST behind a gateway that got no answer', completed(502), POST, SETTLE],
    ['a POST behind a gateway that waited too long', completed(504), POST, SETTLE],
    ['a POST whose first copy still runs', completed(409), POST, RETRY],
    ['a POST that never left', lost(false), POST, RETRY],
    ['a POST without an answer', lost(true), POST, SETTLE],
    ['a POST that replaces, without an answer', lost(true), REPLACING, RETRY],
    ['a POST that replaces, after a failure', completed(500), REPLACING, RETRY],
  ])('%s', (_name, end, traits, expected) => {
    expect(decideRetry(end, traits)).toEqual(expected);
  });
});

describe('waitBefore', () => {
  it.each([
    [1, 500],
    [2, 1000],
    [3, 2000],
    [6, 16_000],
    [7, 20_000],
    [40, 20_000],
  ])('after %i failures is at most %i ms', (failed, most) => {
    expect(retryDelay(failed, DEFAULT_RETRY, () => 1)).toBe(most);
    expect(retryDelay(failed, DEFAULT_RETRY, () => 0)).toBe(0);
    expect(retryDelay(failed, DEFAULT_RETRY, () => 0.5)).toBe(most / 2);
  });

  it.each([
    ['is at least what the server asks for', 7000, 7000],
    ['is the backoff when the server asks for less', 10, 500],
    ['is cut to five minutes', 86_400_000, 300_000],
  ])('%s', (_name, retryAfter, expected) => {
    expect(retryDelay(1, DEFAULT_RETRY, () => 1, retryAfter)).toBe(expected);
  });
});

describe('a Retry-After', () => {
  const now = Date.UTC(2026, 2, 2, 12);

  it.each<[string | undefined, number | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['0', 0],
    ['7', 7000],
    [' 120 ', 120_000],
    ['1.5', 1500],
    ['-5', undefined],
    ['soon', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['Mon, 02 Mar 2026 12:00:30 GMT', 30_000],
    ['Monday, 02-Mar-26 12:00:30 GMT', 30_000],
    ['Mon Mar  2 12:00:30 2026 GMT', 30_000],
    ['Sun, 01 Mar 2026 12:00:00 GMT', 0],
    ['Mon, 99 Foo 2026 12:00:30 GMT', undefined],
  ])('%s is %s ms', (header, expected) => {
    expect(retryAfterOf(header === undefined ? {} : { 'retry-after': header }, now)).toBe(expected);
  });

  it('is never NaN or negative', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const wait = retryAfterOf({ 'retry-after': text }, now);
        expect(wait === undefined || wait >= 0).toBe(true);
      }),
    );
  });
});

describe('retryAfterOf', () => {
  const now = Date.UTC(2026, 2, 2, 12);
  const later = 'Mon, 02 Mar 2026 12:00:30 GMT';

  it.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '7', date: later }, 7000],
    ['a date, by the clock here', { 'retry-after': later }, 30_000],
    ['a date, by the clock there', { 'retry-after': later, date: 'Mon, 02 Mar 2026 12:00:25 GMT' }, 5000],
    ['a date, beside a Date that is none', { 'retry-after': later, date: 'now' }, 30_000],
    ['nothing', { date: later }, undefined],
  ])('reads %s', (_name, headers, expected) => {
    expect(retryAfterOf(headers, now)).toBe(expected);
  });
});
