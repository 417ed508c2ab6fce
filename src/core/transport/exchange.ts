import { type Failure, localFailure } from '../failure.ts';
import { type Attempting, type AttemptResult, attempt } from './attempt.ts';
import { judge, type RetryPolicy, readRetryAfter, waitBefore } from './retry.ts';
import type { OutgoingRequest, Send } from './send.ts';

/** Time as a value: `now` in UTC milliseconds, `sleep` rejects with the signal's reason when it is aborted. */
export interface Clock {
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, milliseconds);
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    }),
};

/** One attempt that failed and will be followed by another after `wait` milliseconds. */
export interface RetryNotice {
  readonly attempt: number;
  readonly attempts: number;
  readonly wait: number;
  /** Null when no answer came. */
  readonly status: number | null;
  readonly reason: string;
}

/** One attempt that ended, for `--verbose`. `status` is null when no answer came. */
export interface AttemptNotice {
  readonly method: string;
  /** Path with the names of the query's parameters, never their values. */
  readonly target: string;
  readonly status: number | null;
  readonly milliseconds: number;
  readonly requestId: string | null;
}

export interface Exchange {
  readonly send: Send;
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  readonly timeout: number;
  readonly onRetry?: (notice: RetryNotice) => void;
  readonly onAttempt?: (notice: AttemptNotice) => void;
}

export interface Exchanging<T> {
  /** Makes the request anew for each attempt. */
  readonly make: () => OutgoingRequest;
  readonly repeatable: boolean;
  readonly keyed: boolean;
  /** Reads the body; undefined when it is not what it should be, which fails a 2xx answer. */
  readonly accept: (text: string) => T | undefined;
  readonly lookUp?: (signal?: AbortSignal) => Promise<unknown>;
  readonly onRetry?: (notice: RetryNotice) => void;
  readonly signal?: AbortSignal;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | null;
  /** Always there for 2xx. */
  readonly value: T | undefined;
  /** An earlier attempt may have been done on the server. */
  readonly afterUnknown: boolean;
  /** What the look-up found: the write had been done. */
  readonly found?: { readonly data: unknown };
}

/**
 * Sends a request until it has an answer that is final: the one place that decides about retries. Throws a Failure
 * with exit code 8 when no whole answer came, and the signal's reason when it was aborted.
 */
export async function exchange<T>(deps: Exchange, request: Exchanging<T>): Promise<Answer<T>> {
  const attempts = deps.policy.maxRetries + 1;
  const attempting: Attempting = { send: deps.send, clock: deps.clock, timeout: deps.timeout };
  let afterUnknown = false;
  for (let number = 1; ; number++) {
    const result = await attempt(attempting, request.make(), request.accept);
    deps.onAttempt?.(result.notice);
    const verdict = judge(result.end, request);
    if (verdict === 'stop') return concluded(result, afterUnknown);
    const unknown = result.end.kind === 'lost' && result.end.sent;
    if (verdict === 'settle') {
      const found = await request.lookUp?.(request.signal);
      if (found !== undefined) return foundAnswer(result, found);
      if (request.lookUp === undefined && unknown) throw outcomeUnknown(result);
    }
    afterUnknown ||= unknown;
    if (number >= attempts) return concluded(result, afterUnknown);
    const retryAfter = readRetryAfter(result.headers['retry-after'], deps.clock.now());
    const wait = waitBefore(number, deps.policy, deps.random, retryAfter);
    const notice = { attempt: number, attempts, wait, status: result.notice.status, reason: reasonOf(result) };
    deps.onRetry?.(notice);
    request.onRetry?.(notice);
    await deps.clock.sleep(wait, request.signal);
  }
}

function concluded<T>(result: AttemptResult<T>, afterUnknown: boolean): Answer<T> {
  if (result.failure !== undefined) throw result.failure;
  const { status } = result.end as { status: number };
  return { status, headers: result.headers, requestId: result.notice.requestId, value: result.value, afterUnknown };
}

function foundAnswer<T>(result: AttemptResult<T>, data: unknown): Answer<T> {
  const { headers, notice } = result;
  return { status: 200, headers, requestId: notice.requestId, value: undefined, afterUnknown: true, found: { data } };
}

function outcomeUnknown<T>(result: AttemptResult<T>): Failure {
  const message = `${result.failure?.message ?? 'No answer came.'} The request had been sent, so it may have been done.`;
  return localFailure('network.outcome_unknown', message, {
    requestId: result.notice.requestId,
    cause: result.failure,
  });
}

function reasonOf<T>(result: AttemptResult<T>): string {
  return result.failure?.message ?? `HTTP ${result.notice.status}`;
}
