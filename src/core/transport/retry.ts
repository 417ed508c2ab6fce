/** How often and how long requests are tried again (contract §5). */
export interface RetryPolicy {
  /** Retries after the first attempt; 0 turns them off. */
  readonly maxRetries: number;
  /** Milliseconds of the first step of the backoff, and the step that no doubling exceeds. */
  readonly base: number;
  readonly ceiling: number;
  /** Milliseconds: a longer `Retry-After` is cut to this, so that no answer can stall a run for hours. */
  readonly longestWait: number;
}

/** How the pauses between attempts grow, however many there are. */
export type Backoff = Omit<RetryPolicy, 'maxRetries'>;

export const DEFAULT_RETRY: RetryPolicy = { maxRetries: 5, base: 500, ceiling: 20_000, longestWait: 300_000 };

/** Statuses of which another try may give something else. 400, 401, 403 and 404 never are. */
export const RETRYABLE_STATUSES: readonly number[] = [408, 429, 500, 502, 503, 504];

/** Statuses after which a gateway or a timeout may hide that the write was done all the same. */
const DOUBTFUL_STATUSES: readonly number[] = [408, 502, 504];

/** What became of one attempt. `refused`: answered, whole. `lost`: no whole answer. */
export type AttemptEnd =
  | { readonly kind: 'answered'; readonly status: number; readonly fromApi: boolean }
  /** `sent`: the body may have reached the server. `permanent`: trying again cannot help. */
  | { readonly kind: 'lost'; readonly sent: boolean; readonly permanent: boolean };

export interface RequestTraits {
  /** Doing it twice leaves the same state as doing it once. */
  readonly repeatable: boolean;
  /** Carries an Idempotency-Key. */
  readonly keyed: boolean;
  /** Looked for after every answer of 5xx, the API's own included: a server may fail after it stored. */
  readonly lookUpFirst?: boolean;
}

export type Verdict = 'stop' | 'retry' | 'settle';

/**
 * What to do after an attempt. `stop`: its end is the end. `retry`: send it again. `settle`: it may have been done;
 * look on the server before it is sent again.
 *
 * GET changes nothing. PUT sets given values and DELETE removes one record, so a second one leaves what the first
 * left. A POST makes something each time: it is sent again freely only when the server cannot have done it — the
 * connection never carried the whole body, or the API itself answered that it refused or failed (D46: such an answer
 * does not use up the key). Everything else, a gateway's 502 included, is settled first.
 */
export function judge(end: AttemptEnd, traits: RequestTraits): Verdict {
  if (end.kind === 'lost') {
    if (end.sent && !traits.repeatable) return 'settle';
    return end.permanent ? 'stop' : 'retry';
  }
  // 409: the first request with this key still runs, and its answer can be had a little later (D46).
  if (end.status === 409 && traits.keyed) return 'retry';
  if (!RETRYABLE_STATUSES.includes(end.status)) return 'stop';
  if (traits.lookUpFirst && end.status >= 500) return 'settle';
  if (traits.repeatable || end.status === 429 || end.status === 503) return 'retry';
  return end.fromApi && !DOUBTFUL_STATUSES.includes(end.status) ? 'retry' : 'settle';
}

/**
 * Milliseconds before the next attempt, `failed` attempts so far: full jitter over a doubling step, never less than
 * the server asked for.
 */
export function waitBefore(failed: number, policy: Backoff, random: () => number, retryAfter?: number): number {
  const step = Math.min(policy.ceiling, policy.base * 2 ** (failed - 1));
  const asked = retryAfter === undefined ? 0 : Math.min(retryAfter, policy.longestWait);
  return Math.round(Math.max(asked, random() * step));
}

/** Milliseconds that a `Retry-After` asks for, in seconds or as an HTTP date; undefined for anything else. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Only a text that begins with a day name is an HTTP date: Date.parse would take `-5` for a year.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Milliseconds that an answer asks to wait. A date counts from the answer's own `Date`: the two clocks may differ. */
export function retryAfterOf(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const there = Date.parse(headers.date ?? '');
  return readRetryAfter(headers['retry-after'], Number.isNaN(there) ? now : there);
}
