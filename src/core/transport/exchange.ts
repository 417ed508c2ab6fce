import { type Failure, localFailure } from '../failure.ts';
import { type AttemptResult, attempt } from './attempt.ts';
import type { Pacer } from './pacer.ts';
import { judge, type RetryPolicy, retryAfterOf, type Verdict, waitBefore } from './retry.ts';
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
  /** Shared by everything that asks the same server with the same token. */
  readonly pacer: Pacer;
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
  /** Reads the body, valid UTF-8; undefined when it is not what it should be, which fails a 2xx answer. Must not keep it. */
  readonly accept: (body: Uint8Array) => T | undefined | Promise<T | undefined>;
  readonly lookUp?: (signal?: AbortSignal) => Promise<unknown>;
  readonly lookUpFirst?: boolean;
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
  let afterUnknown = false;
  for (let number = 1; ; number++) {
    const { result, verdict, wait, throttled } = await attemptInTurn(deps, request, number);
    deps.onAttempt?.(result.notice);
    if (verdict === 'stop') return concluded(result, afterUnknown);
    const unknown = result.end.kind === 'lost' && result.end.sent;
    if (verdict === 'settle') {
      const found = await request.lookUp?.(request.signal);
      if (found !== undefined) return foundAnswer(result, found);
      if (request.lookUp === undefined && unknown) throw outcomeUnknown(result);
    }
    afterUnknown ||= unknown;
    if (number >= attempts) return concluded(result, afterUnknown);
    const notice = { attempt: number, attempts, wait, status: result.notice.status, reason: reasonOf(result) };
    deps.onRetry?.(notice);
    await (throttled ? deps.pacer.hold(wait, request.signal) : deps.clock.sleep(wait, request.signal));
    // The server may have been at it still: what became of it is asked once more before it is sent again.
    const again = verdict === 'settle' && request.lookUpFirst;
    const late = again ? await request.lookUp?.(request.signal) : undefined;
    if (late !== undefined) return foundAnswer(result, late);
    request.onRetry?.(notice);
  }
}

/** Milliseconds that a server may still be at a request whose connection is gone. */
const SETTLING = 1000;

interface Attempted<T> {
  readonly result: AttemptResult<T>;
  readonly verdict: Verdict;
  /** Milliseconds before another attempt. */
  readonly wait: number;
  /** The server asked to be called less often, which concerns every request. */
  readonly throttled: boolean;
}

async function attemptInTurn<T>(deps: Exchange, request: Exchanging<T>, number: number): Promise<Attempted<T>> {
  const { send, clock, timeout, pacer, policy, random } = deps;
  const turn = await pacer.turn(number > 1, request.signal);
  try {
    const result = await attempt({ send, clock, timeout }, request.make(), request.accept);
    const verdict = judge(result.end, request);
    const asked = retryAfterOf(result.headers, clock.now());
    const least = verdict === 'settle' && request.lookUpFirst ? SETTLING : 0;
    const wait = verdict === 'stop' ? 0 : Math.max(least, waitBefore(number, policy, random, asked));
    const { status } = result.notice;
    const throttled = status === 429 || (status === 503 && asked !== undefined);
    turn.ended(result.headers, throttled ? Math.min(asked ?? wait, policy.longestWait) : undefined);
    return { result, verdict, wait, throttled };
  } catch (cause) {
    turn.ended({});
    throw cause;
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
