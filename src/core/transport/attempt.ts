import { isUtf8 } from 'node:buffer';
import { setMaxListeners } from 'node:events';
import { codeOf, Failure, localFailure } from '../failure.ts';
import { ByteText } from '../utf8builder.ts';
import { ACCEPTED, codingsOf, decoded, Undecodable } from './decoding.ts';
import type { AttemptNotice, Clock } from './exchange.ts';
import type { AttemptEnd } from './retry.ts';
import {
  ConnectionFailure,
  type IncomingResponse,
  type OutgoingBody,
  type OutgoingRequest,
  type Send,
} from './send.ts';
import { watchedBody } from './watchedbody.ts';

export interface Attempting {
  readonly send: Send;
  readonly clock: Clock;
  readonly timeout: number;
}

/** One attempt: how it ended, and its answer as far as it came. `failure` is there when no whole answer came. */
export interface AttemptResult<T> {
  readonly end: AttemptEnd;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: T | undefined;
  readonly notice: AttemptNotice;
  readonly failure?: Failure;
}

/**
 * Sends a request once and reads the whole answer. The timeout runs from the last byte sent, so a large upload is not
 * cut while it moves. What `accept` is given is used again once it has settled. Throws only the reason of the caller's
 * signal, and the Failure of a body that cannot be read.
 */
export async function attempt<T>(
  deps: Attempting,
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
  const memory = spare.pop() ?? new ByteText(SMALLEST_BODY);
  let response: IncomingResponse | undefined;
  try {
    const asked = { ...request, headers: { 'accept-encoding': ACCEPTED, ...request.headers } };
    response = await deps.send(deadline.guard(asked));
    if (isSuccess(response)) request.onHead?.(response.headers);
    const body = await readBody(response, memory);
    const { status, headers } = response;
    const value = await made(accept, body);
    if (isSuccess(response) && value === undefined) throw new Malformed('The answer is not an envelope of the API.');
    return {
      end: { kind: 'answered', status },
      headers,
      value,
      notice: notice(status, headers['x-request-id']),
    };
  } catch (cause) {
    request.signal?.throwIfAborted();
    if (cause instanceof Unusable) throw cause.cause;
    const unread = cause instanceof ConnectionFailure ? cause.cause : cause;
    if (unread instanceof Failure) throw unread;
    const about = notice(response?.status ?? null, response?.headers['x-request-id']);
    return lost(response, deadline.passed ? deadline.failure(cause) : cause, about);
  } finally {
    deadline.clear();
    memory.clear();
    if (memory.bytes.length <= LARGEST_SPARE && spare.length < MOST_SPARE) spare.push(memory);
  }
}

const isSuccess = ({ status }: IncomingResponse) => status >= 200 && status < 300;

/** Bytes of memory for a body at first, and the most that is kept for the next. */
const SMALLEST_BODY = 64 * 1024;
const LARGEST_SPARE = 4 * 1024 * 1024;
const MOST_SPARE = 8;

/** Memory of bodies that have been read: new memory for each page would have to be collected every few pages. */
const spare: ByteText[] = [];

function lost<T>(response: IncomingResponse | undefined, cause: unknown, notice: AttemptNotice): AttemptResult<T> {
  const { requestId } = notice;
  if (response !== undefined) {
    const isTold = [Malformed, Undecodable, ConnectionFailure].some((kind) => cause instanceof kind);
    const why = isTold ? (cause as Error).message : 'The answer was cut off.';
    // What a failing gateway writes below its status does not matter; the status is the answer.
    const end: AttemptEnd =
      response.status >= 300
        ? { kind: 'answered', status: response.status }
        : { kind: 'lost', sent: true, permanent: cause instanceof Unreadable };
    const failure = localFailure('response.malformed', `${why} (HTTP ${response.status})`, { requestId, cause });
    return { end, headers: response.headers, value: undefined, notice, ...(end.kind === 'lost' && { failure }) };
  }
  if (!(cause instanceof ConnectionFailure)) throw cause;
  const permanent = isCertificateProblem(cause.cause);
  const failure = localFailure(permanent ? 'network.certificate' : 'network.unreachable', cause.message, {
    requestId,
    cause,
  });
  return { end: { kind: 'lost', sent: cause.sent, permanent }, headers: {}, value: undefined, notice, failure };
}

/** What the caller makes of a whole answer. What that throws is no fault of the way it came: to ask again is no use. */
async function made<T>(accept: (body: Uint8Array) => T | Promise<T>, body: Uint8Array): Promise<T> {
  try {
    return await accept(body);
  } catch (cause) {
    throw new Unusable('What was made of the answer failed.', { cause });
  }
}

class Unusable extends Error {}

class Malformed extends Error {}

/** An answer that asking again will not make readable. */
class Unreadable extends Malformed {}

/** Bytes of the longest answer that is read: what no page or report can be must not fill the memory. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A page is 20 to 100 times larger than its compressed form; beyond this factor, and 8 MiB, it was made to do harm. */
const MOST_EXPANSION = 1000;
const EXPANDED_FREELY = 8 * 1024 * 1024;

async function readBody({ headers, body }: IncomingResponse, memory: ByteText): Promise<Uint8Array> {
  const encoding = headers['content-encoding'];
  const codings = codingsOf(encoding);
  const isCompressed = codings !== undefined && codings.length > 0;
  let received = 0;
  const count = ({ byteLength }: Uint8Array) => {
    received += byteLength;
  };
  for await (const chunk of isCompressed ? await decoded(watchedBody(body, { piece: count }), codings) : body) {
    const length = memory.length + chunk.byteLength;
    if (length > MOST_BYTES) throw new Unreadable(`The answer is larger than ${MOST_BYTES / 1024 / 1024} MiB.`);
    if (isCompressed && length > EXPANDED_FREELY && length > received * MOST_EXPANSION)
      throw new Unreadable(`The answer is more than ${MOST_EXPANSION} times larger than its compressed form.`);
    memory.append(chunk);
  }
  const text = memory.bytes.subarray(0, memory.length);
  if (!isCompressed) received = text.length;
  const announced = headers['content-length'];
  if (announced !== undefined && Number(announced) !== received)
    throw new Malformed(`The answer was cut off after ${received} of ${announced} bytes.`);
  if (isUtf8(text)) return text;
  // An unknown encoding is an error only now: servers give plain text names of this kind, `utf-8` for one.
  if (codings === undefined)
    throw new Unreadable(`The answer is in an encoding that molar does not know (${encoding}).`);
  throw new Malformed('The answer is not valid UTF-8.');
}

/** Path and the names of the query's parameters: values may be about patients. */
export function targetOf(address: string): string {
  const url = new URL(address);
  const names = [...new Set(url.searchParams.keys())];
  return names.length === 0 ? url.pathname : `${url.pathname}?${names.join('&')}`;
}

/** Aborts an attempt that takes too long after its last byte went out. */
class Deadline {
  passed = false;
  private readonly controller = new AbortController();
  private readonly milliseconds: number;
  private readonly outer: AbortSignal | undefined;
  private timer: NodeJS.Timeout | undefined;
  private whole = true;
  private ended = false;

  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    this.milliseconds = milliseconds;
    this.outer = outer;
    if (outer?.aborted) this.controller.abort(outer.reason);
    // Any number of requests may run at once under one signal.
    if (outer !== undefined) setMaxListeners(0, outer);
    outer?.addEventListener('abort', this.relay, { once: true });
    this.restart();
  }

  guard(request: OutgoingRequest): OutgoingRequest {
    const { body } = request;
    return { ...request, signal: this.controller.signal, ...(body !== undefined && { body: this.watch(body) }) };
  }

  failure(cause: unknown): ConnectionFailure {
    const sent = cause instanceof ConnectionFailure ? cause.sent : this.whole;
    return new ConnectionFailure(`No whole answer came within ${this.milliseconds / 1000} s.`, { sent, cause });
  }

  clear(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.relay);
  }

  private readonly relay = () => this.controller.abort(this.outer?.reason);

  private restart(): void {
    // A body may be read on after its attempt has ended, and a timer would keep the process from its end.
    if (this.ended) return;
    if (this.timer !== undefined) {
      this.timer.refresh();
      return;
    }
    this.timer = setTimeout(() => {
      this.passed = true;
      this.controller.abort(new Error('timeout'));
    }, this.milliseconds);
  }

  private watch(body: OutgoingBody): OutgoingBody {
    if (typeof body === 'string') return body;
    this.whole = false;
    const piece = () => this.restart();
    const end = () => {
      this.restart();
      this.whole = true;
    };
    return { length: body.length, open: () => watchedBody(body.open(), { piece, end }) };
  }
}

const CERTIFICATE_CODES = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/;

/** Whether a connection failed because the certificate of the other side is not trusted. */
export function isCertificateProblem(cause: unknown): boolean {
  return CERTIFICATE_CODES.test(codeOf(cause) ?? '');
}
