import type { Clock } from '../clock.ts';

/** How often and after which delays requests are retried (contract §5). */
export interface RetryPolicy {
  /** Retries after the first attempt; 0 turns them off. */
  readonly maxRetries: number;
  /** Milliseconds of the first step of the backoff, and the maximum step. */
  readonly base: number;
  readonly ceiling: number;
  /** Milliseconds: a longer `Retry-After` is cut to this, so that no response can stall a run for hours. */
  readonly longestWait: number;
}

/** How the delays between attempts grow, however many there are. */
export type Backoff = Omit<RetryPolicy, 'maxRetries'>;

/** The policy without flags or environment. */
export const DEFAULT_RETRY: RetryPolicy = { maxRetries: 5, base: 500, ceiling: 20_000, longestWait: 300_000 };

/** What a loop of retries with growing delays needs. */
export interface RetryContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly policy: Backoff;
  /** Retries after the first attempt; undefined: unlimited. */
  readonly maxRetries: number | undefined;
  readonly signal: AbortSignal;
}

/** Statuses that another attempt may not meet again; never 400, 401, 403 and 404. */
export const RETRYABLE_STATUSES: readonly number[] = [408, 429, 500, 502, 503, 504];

/** How one attempt ended. `completed`: with a status. `lost`: without a complete response. */
export type AttemptEnd =
  | { readonly kind: 'completed'; readonly status: number }
  /** `sent`: the body may have reached the server. `permanent`: another attempt cannot help. */
  | { readonly kind: 'lost'; readonly sent: boolean; readonly permanent: boolean };

/** What a retry depends on besides the attempt. */
export interface RequestTraits {
  /** Doing it twice leaves the same state as doing it once. */
  readonly repeatable: boolean;
  /** Carries an Idempotency-Key. */
  readonly keyed: boolean;
}

/** What an attempt that ended means for the next step. */
export interface RetryDecision {
  /** Another attempt may end differently. */
  readonly retry: boolean;
  /** The write may have been done: look it up before sending it again or abandoning it (D49). */
  readonly outcomeUnknown: boolean;
}

/**
 * What to do after an attempt that was no success.
 *
 * GET changes nothing. PUT sets given values and DELETE removes one record, so a second one leaves what the first
 * left. A POST makes something each time, and only a clear refusal allows another: a connection that never carried the
 * whole body, or 429. A timeout, any 5xx or a malformed response may hide that it was done: a server can fail after it
 * stored, and a gateway cannot know.
 */
export function decideRetry(end: AttemptEnd, traits: RequestTraits): RetryDecision {
  const outcomeUnknown = !traits.repeatable && mayBeDone(end);
  if (end.kind === 'lost') return { retry: !end.permanent, outcomeUnknown };
  // 409: the first request with this key is still running; its response comes a little later (D46).
  const retry = RETRYABLE_STATUSES.includes(end.status) || (end.status === 409 && traits.keyed);
  return { retry, outcomeUnknown };
}

/** Whether the server may have done what an attempt without success asked for. */
export function mayBeDone(end: AttemptEnd): boolean {
  return end.kind === 'lost' ? end.sent : end.status === 408 || end.status >= 500;
}

/** Milliseconds before the attempt after `failed` ones: full jitter over a doubling step, or what the server asked. */
export function retryDelay(failed: number, policy: Backoff, random: () => number, retryAfter?: number): number {
  const step = Math.min(policy.ceiling, policy.base * 2 ** (failed - 1));
  return Math.round(Math.max(Math.min(retryAfter ?? 0, policy.longestWait), random() * step));
}

/**
 * Milliseconds that the `Retry-After` of a response asks to wait, in seconds or as an HTTP date; undefined for anything
 * else. A date counts from the response's own `Date`, since the clocks may differ, else from `now`.
 */
export function retryAfterOf(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Only a text that begins with a day name is an HTTP date: Date.parse would take `-5` for a year.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const [at, there] = [Date.parse(text), Date.parse(headers.date ?? '')];
  return Number.isNaN(at) ? undefined : Math.max(0, at - (Number.isNaN(there) ? now : there));
}
