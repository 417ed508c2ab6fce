import { exitCodeOf } from '../../catalog/failures.ts';
import { Failure, localFailure } from '../failure.ts';
import type { Clock } from '../transport/exchange.ts';
import { RETRYABLE_STATUSES, type RetryPolicy, readRetryAfter, waitBefore } from '../transport/retry.ts';
import { ConnectionFailure, type IncomingResponse, type Send } from '../transport/send.ts';

export interface LinkFetching {
  readonly send: Send;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds without a byte after which an attempt is given up. */
  readonly stall: number;
  readonly signal?: AbortSignal;
}

/** Takes the body of one attempt: chunk by chunk, whole when it returns. Called anew for each attempt. */
export type Take<T> = (chunks: AsyncIterable<Uint8Array>, headers: IncomingResponse['headers']) => Promise<T>;

/** The link has expired or was altered (403, D38): ask for the document again to get another. */
export class LinkRefused extends Failure {
  constructor() {
    const facts = { code: 'file.signature', exitCode: exitCodeOf(403), status: 403 };
    super('The server refused its own download link (HTTP 403).', { ...facts, hint: 'Run the command again.' });
    this.name = 'LinkRefused';
  }
}

/**
 * Fetches a signed link: without a token, redirects refused, with the retries of a GET. A body that is shorter or longer
 * than announced counts as cut off. Throws LinkRefused for 403, a Failure otherwise.
 */
export async function fetchLink<T>(url: URL, fetching: LinkFetching, take: Take<T>): Promise<T> {
  for (let number = 1; ; number++) {
    const ended = await attempt(url, fetching, take);
    if ('value' in ended) return ended.value;
    if (!ended.again || number > fetching.retry.maxRetries) throw ended.failure;
    await fetching.clock.sleep(waitBefore(number, fetching.retry, fetching.random, ended.retryAfter), fetching.signal);
  }
}

type Ended<T> =
  | { readonly value: T }
  | { readonly failure: Failure; readonly again: boolean; readonly retryAfter?: number | undefined };

async function attempt<T>(url: URL, fetching: LinkFetching, take: Take<T>): Promise<Ended<T>> {
  const watch = new StallWatch(fetching.stall, fetching.signal);
  try {
    // `identity`: the announced length is to be that of the file.
    const headers = { accept: '*/*', 'accept-encoding': 'identity' };
    const response = await fetching.send({ method: 'GET', url: url.href, headers, signal: watch.signal });
    if (response.status === 200) return { value: await take(watch.chunks(response), response.headers) };
    for await (const _ of watch.chunks(response, false));
    return refused(response, fetching.clock.now());
  } catch (cause) {
    fetching.signal?.throwIfAborted();
    if (!(cause instanceof ConnectionFailure) && !watch.ended(cause)) throw cause;
    const message = cause instanceof ConnectionFailure ? cause.message : 'The download was cut off.';
    return { failure: localFailure('network.unreachable', message, { cause }), again: true };
  } finally {
    watch.stop();
  }
}

function refused({ status, headers }: IncomingResponse, now: number): Ended<never> {
  if (status === 403) return { failure: new LinkRefused(), again: false };
  if (status >= 300 && status < 400) {
    return {
      failure: localFailure('response.redirect', `The download link redirects (HTTP ${status}).`),
      again: false,
    };
  }
  const facts = { code: `http.${status}`, exitCode: exitCodeOf(status), status };
  const failure = new Failure(`The server did not give the file (HTTP ${status}).`, facts);
  return {
    failure,
    again: RETRYABLE_STATUSES.includes(status),
    retryAfter: readRetryAfter(headers['retry-after'], now),
  };
}

/** Aborts an attempt over which nothing comes any more, and tells its failures from those of the taker. */
class StallWatch {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly milliseconds: number;
  private timer: NodeJS.Timeout | undefined;
  private failure: unknown;

  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    this.milliseconds = milliseconds;
    this.signal = AbortSignal.any([this.controller.signal, ...(outer ? [outer] : [])]);
    this.restart();
  }

  /** Whether a thrown value came out of the body itself. */
  ended(cause: unknown): boolean {
    return this.controller.signal.aborted || (this.failure !== undefined && this.failure === cause);
  }

  async *chunks(response: IncomingResponse, checked = true): AsyncGenerator<Uint8Array> {
    let length = 0;
    const body = response.body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await body.next().catch((cause: unknown) => this.fail(cause));
        if (next.done) break;
        this.restart();
        length += next.value.byteLength;
        yield next.value;
      }
    } finally {
      await body.return?.();
    }
    const announced = response.headers['content-length'];
    if (checked && announced !== undefined && Number(announced) !== length) {
      this.fail(new ConnectionFailure(`The download ended after ${length} of ${announced} bytes.`, { sent: true }));
    }
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private fail(cause: unknown): never {
    this.failure = cause;
    throw cause;
  }

  private restart(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.controller.abort(new Error('stalled')), this.milliseconds);
  }
}
