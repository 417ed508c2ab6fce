import { setMaxListeners } from 'node:events';
import { LinkedAbort } from '../abort.ts';
import type { Clock } from '../clock.ts';
import { Failure, localFailure } from '../failure.ts';
import { Utf8Builder } from '../utf8builder.ts';
import { ACCEPTED, MalformedBody, PermanentlyMalformed, readBody, WebPage } from './responsebody.ts';
import type { AttemptEnd } from './retry.ts';
import {
  ConnectionFailure,
  type IncomingResponse,
  isCertificateProblem,
  isSuccess,
  type OutgoingBody,
  type OutgoingRequest,
  observedBody,
  type Send,
} from './send.ts';

/** What an attempt needs; `timeout` in milliseconds. */
export interface AttemptContext {
  readonly send: Send;
  readonly clock: Clock;
  readonly timeout: number;
}

/** One attempt that ended, for `--verbose`. `status` is null when no response arrived. */
export interface AttemptNotice {
  readonly method: string;
  /** Path with the names of the query's parameters, never their values. */
  readonly target: string;
  readonly status: number | null;
  readonly milliseconds: number;
  readonly requestId: string | null;
}

/** One attempt: how it ended, and its response as far as it arrived; `failure` where it did not arrive in full. */
export interface AttemptResult<T> {
  readonly end: AttemptEnd;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: T | undefined;
  readonly notice: AttemptNotice;
  readonly failure?: Failure;
}

/**
 * Sends a request once and reads the response to its end. The timeout runs from the last byte sent, so a large upload
 * is not cut while it moves. The buffer given to `accept` is reused once that has settled. Throws only the reason of
 * the caller's signal, and the Failure of a body that cannot be read.
 */
export async function attempt<T>(
  deps: AttemptContext,
  request: OutgoingRequest,
  accept: (body: Uint8Array) => T | undefined | Promise<T | undefined>,
): Promise<AttemptResult<T>> {
  request.signal?.throwIfAborted();
  const started = deps.clock.now();
  const notice = (status: number | null, requestId?: string): AttemptNotice => ({
    method: request.method,
    target: targetOf(request.url),
    status,
    milliseconds: deps.clock.now() - started,
    requestId: requestId ?? request.headers['x-request-id'] ?? null,
  });
  const deadline = new Deadline(deps.timeout, request.signal);
  const buffer = freeBuffers.pop() ?? new Utf8Builder(INITIAL_BUFFER_BYTES);
  let response: IncomingResponse | undefined;
  try {
    const sent = { ...request, headers: { 'accept-encoding': ACCEPTED, ...request.headers } };
    response = await deps.send(deadline.guard(sent));
    if (isSuccess(response.status)) request.onHead?.(response.headers);
    const body = await readBody(response, buffer);
    const { status, headers } = response;
    const value = await accepted(accept, body);
    if (isSuccess(status) && value === undefined)
      throw WebPage.isIn(headers, body) ? new WebPage() : new MalformedBody('The response is not an API envelope.');
    return { end: { kind: 'completed', status }, headers, value, notice: notice(status, headers['x-request-id']) };
  } catch (cause) {
    request.signal?.throwIfAborted();
    if (cause instanceof AcceptError) throw cause.cause;
    const sourceError = cause instanceof ConnectionFailure ? cause.cause : cause;
    if (sourceError instanceof Failure) throw sourceError;
    const about = notice(response?.status ?? null, response?.headers['x-request-id']);
    return failedAttempt(response, deadline.passed ? deadline.failure(cause) : cause, about);
  } finally {
    deadline.clear();
    buffer.clear();
    if (buffer.bytes.length <= MAX_FREE_BUFFER_BYTES && freeBuffers.length < MAX_FREE_BUFFERS) freeBuffers.push(buffer);
  }
}

const INITIAL_BUFFER_BYTES = 64 * 1024;
const MAX_FREE_BUFFER_BYTES = 4 * 1024 * 1024;
const MAX_FREE_BUFFERS = 8;

/** Buffers for reuse: a new one for each page would have to be collected every few pages. */
const freeBuffers: Utf8Builder[] = [];

function failedAttempt<T>(
  response: IncomingResponse | undefined,
  cause: unknown,
  notice: AttemptNotice,
): AttemptResult<T> {
  const { requestId } = notice;
  if (response !== undefined) {
    const isKnown = cause instanceof MalformedBody || cause instanceof ConnectionFailure;
    const why = isKnown ? cause.message : 'The response was cut off.';
    // What a failing gateway writes below its status does not matter; the status is the response.
    const end: AttemptEnd = isSuccess(response.status)
      ? { kind: 'lost', sent: true, permanent: cause instanceof PermanentlyMalformed }
      : { kind: 'completed', status: response.status };
    const hint = cause instanceof WebPage ? WebPage.next : undefined;
    const failure = localFailure('response.malformed', `${why} (HTTP ${response.status})`, {
      ...{ requestId, cause },
      ...(hint && { hint }),
    });
    return { end, headers: response.headers, value: undefined, notice, ...(end.kind === 'lost' && { failure }) };
  }
  if (!(cause instanceof ConnectionFailure)) throw cause;
  const permanent = isCertificateProblem(cause.cause);
  const code = permanent ? 'network.certificate' : 'network.unreachable';
  const failure = localFailure(code, cause.message, { requestId, cause });
  return { end: { kind: 'lost', sent: cause.sent, permanent }, headers: {}, value: undefined, notice, failure };
}

/** What the caller throws is no fault of the transfer, so it must not look like one that a retry may cure. */
async function accepted<T>(accept: (body: Uint8Array) => T | Promise<T>, body: Uint8Array): Promise<T> {
  try {
    return await accept(body);
  } catch (cause) {
    throw new AcceptError('The response could not be processed.', { cause });
  }
}

class AcceptError extends Error {}

/** Path and the names of the query's parameters: values may be about patients. */
export function targetOf(address: string): string {
  const url = new URL(address);
  const names = [...new Set(url.searchParams.keys())];
  return names.length === 0 ? url.pathname : `${url.pathname}?${names.join('&')}`;
}

/** Aborts an attempt that takes too long after its last byte went out. */
class Deadline {
  passed = false;
  private readonly link: LinkedAbort;
  private readonly timer: NodeJS.Timeout;
  private ended = false;

  constructor(
    private readonly milliseconds: number,
    outer: AbortSignal | undefined,
  ) {
    // Any number of requests may run at once under one signal.
    if (outer !== undefined) setMaxListeners(0, outer);
    this.link = new LinkedAbort(outer);
    this.timer = setTimeout(() => {
      this.passed = true;
      this.link.abort();
    }, milliseconds);
  }

  guard(request: OutgoingRequest): OutgoingRequest {
    const { body } = request;
    return { ...request, signal: this.link.signal, ...(body !== undefined && { body: this.watch(body) }) };
  }

  failure(cause: unknown): ConnectionFailure {
    const sent = !(cause instanceof ConnectionFailure) || cause.sent;
    return new ConnectionFailure(`No complete response within ${this.milliseconds / 1000} s.`, { sent, cause });
  }

  clear(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.link.release();
  }

  private watch(body: OutgoingBody): OutgoingBody {
    if (typeof body === 'string') return body;
    const onChunk = () => {
      // A body may still be read after its attempt has ended, and a timer would keep the process alive.
      if (!this.ended) this.timer.refresh();
    };
    return { length: body.length, open: () => observedBody(body.open(), { onChunk, onEnd: onChunk }) };
  }
}
