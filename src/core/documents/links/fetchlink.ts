import { EXIT, exitCodeOf } from '../../../catalog/failures.ts';
import type { Clock } from '../../clock.ts';
import { Failure, localFailure } from '../../failure.ts';
import { RETRYABLE_STATUSES, type RetryPolicy, retryAfterOf, retryDelay } from '../../transport/retry.ts';
import { ConnectionFailure, type IncomingResponse, type Send } from '../../transport/send.ts';

type Headers = IncomingResponse['headers'];

/** What it takes to fetch a signed link. */
export interface LinkFetching {
  readonly send: Send;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds without a byte after which an attempt is aborted. */
  readonly stall: number;
  readonly signal?: AbortSignal;
}

/** A response with one of the requested statuses; its body can be read once. */
export interface LinkResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** How one attempt ended; `retryable`: another attempt may succeed, no earlier than `retryAfter` milliseconds. */
export type Attempt<T> =
  | { readonly value: T }
  | { readonly failure: Failure; readonly retryable: boolean; readonly retryAfter?: number | undefined };

/** Thrown by a body reader: the content is not what was announced and has to be fetched again. */
export class WrongContent extends Error {}

/** As WrongContent, and what was received before cannot be used either. */
export class UntrustedContent extends WrongContent {}

/** Statuses of links that have expired, were altered, or whose file has moved: a fresh link may work (D38). */
const REFUSALS: readonly number[] = [400, 401, 403, 404, 410];

/** The link is no longer valid: the document has to be requested again to get another. */
export class LinkRefused extends Failure {
  constructor(status: number) {
    const isForbidden = status === 403;
    super(isForbidden ? 'The server refused its own download link (HTTP 403).' : notSent(status), {
      code: isForbidden ? 'file.signature' : `http.${status}`,
      exitCode: status === 410 ? EXIT.notFound : exitCodeOf(status),
      status,
      hint: 'Run the command again; report it to the operator of the server if it persists.',
    });
    this.name = 'LinkRefused';
  }
}

/** Reads the body of one attempt to its end. Called anew for each attempt. */
export type BodyReader<T> = (chunks: AsyncIterable<Uint8Array>, headers: Headers) => Promise<T>;

/**
 * Fetches all of a signed link with the retries of a GET. A body that is shorter or longer than announced counts as cut
 * off. Throws LinkRefused for a link that is not valid, a Failure otherwise.
 */
export async function fetchLink<T>(url: URL, fetching: LinkFetching, read: BodyReader<T>): Promise<T> {
  for (let number = 1; ; number++) {
    const attempt = await attemptLink(url, fetching, { statuses: [200] }, ({ headers, chunks }) =>
      read(ofLength(chunks, lengthOf(headers)), headers),
    );
    if ('value' in attempt) return attempt.value;
    if (!attempt.retryable || number > fetching.retry.maxRetries) throw attempt.failure;
    await pauseBefore(number, fetching, attempt.retryAfter);
  }
}

/** Waits before the retry after `failed` failed attempts. */
export function pauseBefore(failed: number, fetching: LinkFetching, retryAfter: number | undefined): Promise<void> {
  const { clock, retry, random, signal } = fetching;
  return clock.sleep(retryDelay(failed, retry, random, retryAfter), signal);
}

/**
 * Requests a signed link once: without a token, since its host may be another's, and without following redirects.
 * `read` gets responses with one of the `statuses`; what it throws itself is thrown here, unlike a body that is cut off.
 */
export async function attemptLink<T>(
  url: URL,
  fetching: LinkFetching,
  request: { readonly headers?: Readonly<Record<string, string>>; readonly statuses: readonly number[] },
  read: (response: LinkResponse) => Promise<T>,
): Promise<Attempt<T>> {
  const watch = new StallWatch(fetching.stall, fetching.signal);
  try {
    // `identity`: the announced length is to be that of the file.
    const headers = { accept: '*/*', 'accept-encoding': 'identity', ...request.headers };
    const response = await fetching.send({ method: 'GET', url: url.href, headers, signal: watch.signal });
    const chunks = watch.chunks(response);
    try {
      if (!request.statuses.includes(response.status)) return refused(response, fetching.clock.now());
      refuseEncoding(response);
      return { value: await read({ status: response.status, headers: response.headers, chunks }) };
    } finally {
      await drain(chunks).catch(() => undefined);
    }
  } catch (cause) {
    fetching.signal?.throwIfAborted();
    const isKnown = cause instanceof ConnectionFailure || cause instanceof WrongContent;
    if (!isKnown && !watch.caused(cause)) throw cause;
    const message = isKnown ? cause.message : 'The download was cut off.';
    return { failure: localFailure('network.unreachable', message, { cause }), retryable: true };
  } finally {
    watch.stop();
  }
}

/** Bytes of an unread body that are read so that the connection can be reused; of a longer one it is closed. */
const MAX_DRAINED_BYTES = 65_536;

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.byteLength;
    if (length > MAX_DRAINED_BYTES) return;
  }
}

function refuseEncoding({ headers }: IncomingResponse): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  const message = `The server sent the file in an encoding that was not requested (${encoding}).`;
  throw localFailure('response.malformed', message);
}

function notSent(status: number): string {
  return `The server did not send the file (HTTP ${status}).`;
}

function refused({ status, headers }: IncomingResponse, now: number): Attempt<never> {
  if (REFUSALS.includes(status)) return { failure: new LinkRefused(status), retryable: false };
  if (status >= 300 && status < 400) {
    const hint = 'Report it to the operator of the server; the redirect was not followed.';
    const message = `The download link redirects (HTTP ${status}).`;
    return { failure: localFailure('response.redirect', message, { hint }), retryable: false };
  }
  return {
    failure: new Failure(notSent(status), { code: `http.${status}`, exitCode: exitCodeOf(status), status }),
    retryable: RETRYABLE_STATUSES.includes(status),
    retryAfter: retryAfterOf(headers, now),
  };
}

/** A body of `length` bytes, where that is known: throws UntrustedContent when it is longer, WrongContent when shorter. */
export async function* ofLength(
  chunks: AsyncIterable<Uint8Array>,
  length: number | undefined,
): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of chunks) {
    received += chunk.byteLength;
    if (length !== undefined && received > length)
      throw new UntrustedContent(`The download is longer than the ${length} bytes announced.`);
    yield chunk;
  }
  if (length !== undefined && received < length)
    throw new WrongContent(`The download ended after ${received} of ${length} bytes.`);
}

/** The `Content-Length` of a response, undefined where there is none that is a number. */
export function lengthOf(headers: Headers): number | undefined {
  const text = headers['content-length']?.trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Aborts an attempt when no byte arrives for some time, and tells failures of the body from those of its reader. */
class StallWatch {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private failure: unknown;

  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    this.signal = AbortSignal.any([this.controller.signal, ...(outer ? [outer] : [])]);
    this.timer = setTimeout(() => this.controller.abort(new Error('stalled')), milliseconds);
  }

  /** Whether a thrown value came out of the body itself. */
  caused(thrown: unknown): boolean {
    return this.controller.signal.aborted || (this.failure !== undefined && this.failure === thrown);
  }

  async *chunks(response: IncomingResponse): AsyncGenerator<Uint8Array> {
    const body = response.body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await body.next().catch((cause: unknown) => {
          this.failure = cause;
          throw cause;
        });
        if (next.done) return;
        this.timer.refresh();
        yield next.value;
      }
    } finally {
      // A body that is left early may fail once more on closing, which means nothing.
      await body.return?.().catch(() => undefined);
    }
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
