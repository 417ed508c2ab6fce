import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { WaitTimeout, withTimeout } from '../abort.ts';
import { type Failure, usageFailure } from '../failure.ts';
import { refuseUnencrypted } from '../transport/address.ts';
import { type RetryContext, retryAfterOf, retryDelay } from '../transport/retry.ts';
import { ConnectionFailure, type IncomingResponse, isSuccess, type Send } from '../transport/send.ts';

/** A receiver or a command did not accept a message. */
export class NotAccepted extends Error {
  constructor(
    message: string,
    /** Milliseconds that it asks to wait. */
    readonly retryAfter?: number,
  ) {
    super(message);
    this.name = 'NotAccepted';
  }
}

/** A message was not accepted and is offered again after `wait` milliseconds. */
export interface ForwardRetryNotice {
  readonly messageId: number;
  readonly reason: string;
  readonly wait: number;
}

/** Options of `forwardMessage`. */
export interface ForwardOptions extends RetryContext {
  readonly onRetry: (notice: ForwardRetryNotice) => void;
  /** The failure when the last attempt did not succeed. */
  readonly failureOf: (problem: NotAccepted, messageId: number, attempts: number) => Failure;
}

/** Offers a message until it is accepted, with growing delays. Throws what `failureOf` returns, or the signal's reason. */
export async function forwardMessage(
  messageId: number,
  offer: () => Promise<void>,
  options: ForwardOptions,
): Promise<void> {
  const { clock, random, policy, maxRetries = Number.POSITIVE_INFINITY, signal, onRetry, failureOf } = options;
  for (let attempts = 1; ; attempts++) {
    signal.throwIfAborted();
    try {
      return await offer();
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof NotAccepted)) throw cause;
      if (attempts > maxRetries) throw failureOf(cause, messageId, attempts);
      const wait = retryDelay(attempts, policy, random, cause.retryAfter);
      onRetry({ messageId, reason: cause.message, wait });
      await clock.sleep(wait, signal);
    }
  }
}

/** Header with the id of the message, so that a receiver can drop duplicates. */
export const MESSAGE_ID_HEADER = 'X-Message-ID';

/** Milliseconds for a receiver to respond. */
const RECEIVER_TIMEOUT = 30_000;

/** The address of `--forward-to`. Throws a Failure (exit 2) for one that messages cannot be sent to safely. */
export function readReceiver(text: string, allowHttp: boolean): URL {
  const source = '--forward-to';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw usageFailure(`${source} must be a URL such as http://localhost:3000/hook.`, { source });
  }
  // The text is not repeated: it holds a password.
  if (url.username !== '' || url.password !== '') {
    throw usageFailure(`${source} must not hold a user name or password.`, { source });
  }
  if (!allowHttp) refuseUnencrypted(url, { source, what: 'patient data' });
  return url;
}

/** Where and how to POST a message. */
export interface PostOptions {
  readonly send: Send;
  readonly url: URL;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** UTC milliseconds. */
  readonly now: () => number;
  /** Milliseconds to respond. */
  readonly timeout?: number;
}

/** POSTs a message as JSON, without the token of the API. Throws NotAccepted for anything but a 2xx response. */
export async function postMessage({ id }: StreamMessage, text: string, posting: PostOptions): Promise<void> {
  const { send, url, userAgent, signal, now, timeout = RECEIVER_TIMEOUT } = posting;
  const closing = new AbortController();
  const sending = send({
    method: 'POST',
    url: url.href,
    headers: {
      'content-type': 'application/json',
      [MESSAGE_ID_HEADER.toLowerCase()]: String(id),
      'user-agent': userAgent,
    },
    body: text,
    signal: closing.signal,
  }).then(readToEnd);
  sending.catch(() => undefined);
  try {
    const { status, headers } = await withTimeout(sending, timeout, signal);
    if (isSuccess(status)) return;
    throw new NotAccepted(`${url.host} responded with HTTP ${status}.`, retryAfterOf(headers, now()));
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof NotAccepted) throw cause;
    if (cause instanceof WaitTimeout) throw new NotAccepted(`${url.host} did not respond within ${timeout / 1000} s.`);
    throw new NotAccepted(cause instanceof ConnectionFailure ? cause.message : `Connection lost: ${url.host}.`);
  } finally {
    closing.abort();
  }
}

/** Reads and drops the body, which frees the connection for the next message. */
async function readToEnd(response: IncomingResponse): Promise<IncomingResponse> {
  for await (const chunk of response.body) void chunk;
  return response;
}
