import { type Failure, localFailure } from '../failure.ts';
import { type AttemptResult, attempt } from './attempt.ts';
import { Doubt, type Looks, outcomeUnknown } from './doubt.ts';
import type { Pacer } from './pacer.ts';
import { judge, mayBeDone, type RetryPolicy, retryAfterOf, type Verdict, waitBefore } from './retry.ts';
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

export interface Exchanging<T> extends Looks {
  /** Makes the request anew for each attempt. */
  readonly make: () => OutgoingRequest;
  readonly repeatable: boolean;
  readonly keyed: boolean;
  /** Reads the body, valid UTF-8; undefined when it is not what it should be, which fails a 2xx answer. Must not keep it. */
  readonly accept: (body: Uint8Array) => T | undefined | Promise<T | undefined>;
  /** Whether a value says that the request was done; a 2xx answer with another is as good as none. */
  readonly isClear?: (value: T) => boolean;
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
  /** It was no success, and whether the write was done could not be found out; `look` says why a look-up failed. */
  readonly unknown?: { readonly look: Failure | undefined };
}

/**
 * Sends a request until it has an answer that is final: the one place that decides about retries. Once an attempt has
 * left it open whether the write was done, the server is looked at after each failure, and again right before the
 * write is sent once more or given up: the server may still have been at work on it. After a success it is looked at a
 * last time, for what came of the attempt in doubt. Throws a Failure with exit code 8 when no whole answer came, and
 * the signal's reason when it was aborted.
 */
export async function exchange<T>(deps: Exchange, request: Exchanging<T>): Promise<Answer<T>> {
  const attempts = deps.policy.maxRetries + 1;
  const doubt = new Doubt(deps.clock, request, request.signal);
  let afterUnknown = false;
  for (let number = 1; ; number++) {
    const { result, verdict, wait, throttled } = await attemptInTurn(deps, request, number);
    deps.onAttempt?.(result.notice);
    afterUnknown ||= mayBeDone(result.end);
    const isLast = !verdict.again || number >= attempts;
    if (verdict.unclear) doubt.open();
    if (isSuccess(result)) {
      await doubt.lookBack();
      return concluded(result, afterUnknown);
    }
    // A server that asked for a pause is looked at after it.
    if (isLast || !throttled) await doubt.look();
    if (doubt.isSettled || (isLast && !verdict.unclear)) return concluded(result, afterUnknown, doubt);
    const notice = { attempt: number, attempts, wait, status: result.notice.status, reason: reasonOf(result) };
    if (!isLast) deps.onRetry?.(notice);
    const pause = isLast ? SETTLING : wait;
    await (throttled && !isLast ? deps.pacer.hold(pause, request.signal) : deps.clock.sleep(pause, request.signal));
    await doubt.look();
    if (doubt.isSettled || isLast) return concluded(result, afterUnknown, doubt);
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
    const result = cleared(await attempt({ send, clock, timeout }, request.make(), request.accept), request);
    const verdict = judge(result.end, request);
    const asked = retryAfterOf(result.headers, clock.now());
    const least = verdict.unclear ? SETTLING : 0;
    const wait = verdict.again ? Math.max(least, waitBefore(number, policy, random, asked)) : 0;
    const { status } = result.notice;
    const throttled = status === 429 || (status === 503 && asked !== undefined);
    turn.ended(result.headers, throttled ? Math.min(asked ?? wait, policy.longestWait) : undefined);
    return { result, verdict, wait, throttled };
  } catch (cause) {
    turn.ended({});
    throw cause;
  }
}

function concluded<T>(result: AttemptResult<T>, afterUnknown: boolean, doubt?: Doubt): Answer<T> {
  const { headers, failure, notice, value } = result;
  const { found, unknown } = doubt ?? {};
  const facts = { headers, requestId: notice.requestId };
  if (found !== undefined) return { status: 200, ...facts, value: undefined, afterUnknown: true, found };
  if (failure !== undefined) throw unknown === undefined ? failure : outcomeUnknown(failure, unknown.look);
  const { status } = result.end as { status: number };
  return { status, ...facts, value, afterUnknown, ...(unknown && { unknown }) };
}

function isSuccess<T>({ end }: AttemptResult<T>): boolean {
  return end.kind === 'answered' && end.status >= 200 && end.status < 300;
}

/** The same result, counted as lost where it says "done" and its value does not. */
function cleared<T>(result: AttemptResult<T>, { isClear }: Exchanging<T>): AttemptResult<T> {
  const { value, notice } = result;
  if (isClear === undefined || value === undefined || !isSuccess(result) || isClear(value)) return result;
  const message = `The answer does not have the record that was asked for (HTTP ${notice.status}).`;
  const failure = localFailure('response.malformed', message, { requestId: notice.requestId });
  return { ...result, end: { kind: 'lost', sent: true, permanent: false }, value: undefined, failure };
}

function reasonOf<T>(result: AttemptResult<T>): string {
  return result.failure?.message ?? `HTTP ${result.notice.status}`;
}
