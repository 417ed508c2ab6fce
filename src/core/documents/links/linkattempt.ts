import { EXIT, exitCodeOf } from '../../../catalog/failures.ts';
import type { Clock } from '../../clock.ts';
import { Failure, localFailure } from '../../failure.ts';
import { RETRYABLE_STATUSES, type RetryPolicy, retryAfterOf } from '../../transport/retry.ts';
import { ConnectionFailure, type IncomingResponse, type Send } from '../../transport/send.ts';
import { StallWatch } from './stallwatch.ts';

export interface LinkFetching {
  readonly send: Send;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds without a byte after which an attempt is given up. */
  readonly stall: number;
  readonly signal?: AbortSignal;
}

/** What a link answered with a status that was asked for: the body is read once. */
export interface LinkAnswer {
  readonly status: number;
  readonly headers: IncomingResponse['headers'];
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** How one attempt ended. `again`: another one may do better, not before `retryAfter` milliseconds. */
export type Ended<T> =
  | { readonly value: T }
  | { readonly failure: Failure; readonly again: boolean; readonly retryAfter?: number | undefined };

/** The content that came is not what was announced: to be asked for again, thrown by whoever takes it. */
export class WrongContent extends Error {}

/** As WrongContent, and nothing of what came before can be kept either. */
export class UntrustedContent extends WrongContent {}

/** Statuses of links that have expired, were altered, or whose file is elsewhere now: a fresh link may work (D38). */
const REFUSALS: readonly number[] = [400, 401, 403, 404, 410];

/** The link is not valid (any more): ask for the document again to get another. */
export class LinkRefused extends Failure {
  constructor(status: number) {
    const message =
      status === 403
        ? 'The server refused its own download link (HTTP 403).'
        : `The server did not give the file (HTTP ${status}).`;
    super(message, {
      code: status === 403 ? 'file.signature' : `http.${status}`,
      exitCode: status === 410 ? EXIT.notFound : exitCodeOf(status),
      status,
      hint: 'Run the command again; report it to the operator of the server if it persists.',
    });
    this.name = 'LinkRefused';
  }
}

/**
 * Asks a signed link once: without a token, since its host may be another's, and without following redirects. `take`
 * gets answers with one of the `statuses`; what it throws itself ends everything, a body that breaks off does not.
 */
export async function attemptLink<T>(
  url: URL,
  fetching: LinkFetching,
  asked: { readonly headers?: Readonly<Record<string, string>>; readonly statuses: readonly number[] },
  take: (answer: LinkAnswer) => Promise<T>,
): Promise<Ended<T>> {
  const watch = new StallWatch(fetching.stall, fetching.signal);
  try {
    // `identity`: the announced length is to be that of the file.
    const headers = { accept: '*/*', 'accept-encoding': 'identity', ...asked.headers };
    const response = await fetching.send({ method: 'GET', url: url.href, headers, signal: watch.signal });
    const chunks = watch.chunks(response);
    try {
      if (!asked.statuses.includes(response.status)) return refused(response, fetching.clock.now());
      refuseEncoding(response);
      return { value: await take({ status: response.status, headers: response.headers, chunks }) };
    } finally {
      await drain(chunks).catch(() => undefined);
    }
  } catch (cause) {
    fetching.signal?.throwIfAborted();
    const ended = cause instanceof ConnectionFailure || cause instanceof WrongContent;
    if (!ended && !watch.ended(cause)) throw cause;
    const message = ended ? cause.message : 'The download was cut off.';
    return { failure: localFailure('network.unreachable', message, { cause }), again: true };
  } finally {
    watch.stop();
  }
}

/** Bytes that nobody wants are read up to here, so that the connection can be used again; with more it is given up. */
const MOST_UNWANTED = 65_536;

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.byteLength;
    if (length > MOST_UNWANTED) return;
  }
}

function refuseEncoding({ headers }: IncomingResponse): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  throw localFailure(
    'response.malformed',
    `The server sent the file in an encoding that was not asked for (${encoding}).`,
  );
}

function refused({ status, headers }: IncomingResponse, now: number): Ended<never> {
  if (REFUSALS.includes(status)) return { failure: new LinkRefused(status), again: false };
  if (status >= 300 && status < 400) {
    const hint = 'Report it to the operator of the server; the redirect was not followed.';
    const message = `The download link redirects (HTTP ${status}).`;
    return { failure: localFailure('response.redirect', message, { hint }), again: false };
  }
  const facts = { code: `http.${status}`, exitCode: exitCodeOf(status), status };
  return {
    failure: new Failure(`The server did not give the file (HTTP ${status}).`, facts),
    again: RETRYABLE_STATUSES.includes(status),
    retryAfter: retryAfterOf(headers, now),
  };
}

/** The whole of a body: throws UntrustedContent when it is longer and WrongContent when it is shorter than `length` bytes, where that is known. */
export async function* wholeOf(
  chunks: AsyncIterable<Uint8Array>,
  length: number | undefined,
): AsyncGenerator<Uint8Array> {
  let came = 0;
  for await (const chunk of chunks) {
    came += chunk.byteLength;
    if (length !== undefined && came > length)
      throw new UntrustedContent(`The download is longer than the ${length} bytes announced.`);
    yield chunk;
  }
  if (length !== undefined && came < length)
    throw new WrongContent(`The download ended after ${came} of ${length} bytes.`);
}

/** The `Content-Length` of an answer, undefined where there is none that is a number. */
export function lengthOf(headers: IncomingResponse['headers']): number | undefined {
  const text = headers['content-length']?.trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
