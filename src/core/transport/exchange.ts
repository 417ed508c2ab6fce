import { type Failure, localFailure } from '../failure.ts';
import { type AttemptContext, type AttemptNotice, type AttemptResult, attempt } from './attempt.ts';
import type { Pacer } from './pacer.ts';
import { decideRetry, mayBeDone, type RetryPolicy, retryAfterOf, retryDelay } from './retry.ts';
import { isSuccess, type OutgoingRequest } from './send.ts';
import { outcomeUnknown, UncertainWrite, type WriteLookups } from './uncertainwrite.ts';

/** One attempt that failed and will be followed by another after `wait` milliseconds. */
export interface RetryNotice {
  readonly attempt: number;
  readonly attempts: number;
  readonly wait: number;
  /** Null when no response arrived. */
  readonly status: number | null;
  readonly reason: string;
}

/** What every exchange with a server needs. */
export interface ExchangeContext extends AttemptContext {
  readonly policy: RetryPolicy;
  /** Shared by all requests to the same server with the same token. */
  readonly pacer: Pacer;
  readonly random: () => number;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  readonly onAttempt?: ((notice: AttemptNotice) => void) | undefined;
}

/** A request, as often as it takes. */
export interface ExchangeRequest<T> extends WriteLookups {
  /** Makes the request anew for each attempt. */
  readonly make: () => OutgoingRequest;
  readonly repeatable: boolean;
  readonly keyed: boolean;
  /** Reads the body, valid UTF-8, and must not keep it; undefined fails a 2xx response as malformed. */
  readonly accept: (body: Uint8Array) => T | undefined | Promise<T | undefined>;
  /** Whether a value shows that the request was done; otherwise a 2xx response counts as none. */
  readonly isClear?: ((value: T) => boolean) | undefined;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The final response. */
export interface ExchangeResponse<T> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | null;
  /** Always there for 2xx. */
  readonly value: T | undefined;
  /** An earlier attempt may have been done on the server. */
  readonly afterUnknown: boolean;
  /** What the lookup found: the write had been done. */
  readonly found?: { readonly data: unknown };
  /** It was no success, and whether the write was done could not be found out; `lookup` says why a lookup failed. */
  readonly unknown?: { readonly lookup?: Failure };
}

/**
 * Sends a request until its response is final: the one place that decides about retries. Once an attempt has left it
 * open whether the write was done, it is looked up after each failure, and again right before the write is sent once
 * more or abandoned: the server may still have been at work on it. After a success duplicates are looked for. Throws a
 * Failure with exit code 8 when no complete response arrived, and the signal's reason when it was aborted.
 */
export async function exchange<T>(deps: ExchangeContext, request: ExchangeRequest<T>): Promise<ExchangeResponse<T>> {
  const attempts = deps.policy.maxRetries + 1;
  const write = new UncertainWrite(deps.clock, request, request.signal);
  let afterUnknown = false;
  for (let number = 1; ; number++) {
    const { result, decision, wait, throttled } = await pacedAttempt(deps, request, number);
    deps.onAttempt?.(result.notice);
    afterUnknown ||= mayBeDone(result.end);
    const isLast = !decision.retry || number >= attempts;
    if (decision.outcomeUnknown) write.open();
    if (isDone(result)) {
      await write.checkDuplicates();
      return concluded(result, afterUnknown);
    }
    // A server that requested a pause is queried after it.
    if (isLast || !throttled) await write.lookUp();
    if (write.isSettled || (isLast && !decision.outcomeUnknown)) return concluded(result, afterUnknown, write);
    const reason = result.failure?.message ?? `HTTP ${result.notice.status}`;
    const notice = { attempt: number, attempts, wait, status: result.notice.status, reason };
    if (!isLast) deps.onRetry?.(notice);
    const pause = isLast ? SETTLING : wait;
    await (throttled && !isLast ? deps.pacer.pause(pause, request.signal) : deps.clock.sleep(pause, request.signal));
    await write.lookUp();
    if (write.isSettled || isLast) return concluded(result, afterUnknown, write);
    request.onRetry?.(notice);
  }
}

/** Milliseconds that a server may still work on a request whose connection is gone. */
const SETTLING = 1000;

/** One attempt, the milliseconds to `wait` before another one, and whether the server `throttled` all requests. */
async function pacedAttempt<T>(deps: ExchangeContext, request: ExchangeRequest<T>, number: number) {
  const { pacer, policy } = deps;
  const release = await pacer.acquire(number > 1, request.signal);
  try {
    const result = checked(await attempt(deps, request.make(), request.accept), request);
    const decision = decideRetry(result.end, request);
    const retryAfter = retryAfterOf(result.headers, deps.clock.now());
    const least = decision.outcomeUnknown ? SETTLING : 0;
    const wait = decision.retry ? Math.max(least, retryDelay(number, policy, deps.random, retryAfter)) : 0;
    const { status } = result.notice;
    const throttled = status === 429 || (status === 503 && retryAfter !== undefined);
    release(result.headers, throttled ? Math.min(retryAfter ?? wait, policy.longestWait) : undefined);
    return { result, decision, wait, throttled };
  } catch (cause) {
    release({});
    throw cause;
  }
}

function concluded<T>(result: AttemptResult<T>, afterUnknown: boolean, write?: UncertainWrite): ExchangeResponse<T> {
  const { headers, failure, notice, value, end } = result;
  const { found, unknown } = write ?? {};
  const common = { headers, requestId: notice.requestId, afterUnknown };
  if (found !== undefined) return { status: 200, ...common, value: undefined, found };
  if (failure !== undefined) throw unknown === undefined ? failure : outcomeUnknown(failure, unknown.lookup);
  const { status } = end as { status: number };
  return { status, ...common, value, ...(unknown && { unknown }) };
}

function isDone<T>({ end }: AttemptResult<T>): boolean {
  return end.kind === 'completed' && isSuccess(end.status);
}

/** The same result, counted as lost where its status is a success and its value does not show it. */
function checked<T>(result: AttemptResult<T>, { isClear }: ExchangeRequest<T>): AttemptResult<T> {
  const { value, notice } = result;
  if (isClear === undefined || value === undefined || !isDone(result) || isClear(value)) return result;
  const message = `The response lacks the requested record (HTTP ${notice.status}).`;
  const failure = localFailure('response.malformed', message, { requestId: notice.requestId });
  return { ...result, end: { kind: 'lost', sent: true, permanent: false }, value: undefined, failure };
}
