import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { WaitTimeout, withTimeout } from '../abort.ts';
import { localFailure, usageFailure } from '../failure.ts';
import { isLoopback } from '../transport/address.ts';
import { retryAfterOf } from '../transport/retry.ts';
import { ConnectionFailure, type IncomingResponse, type Send } from '../transport/send.ts';
import { NotAccepted } from './forward.ts';

/** Names the message, so that a receiver can drop what it has had before. */
export const MESSAGE_ID_HEADER = 'X-Message-ID';

/** Milliseconds that a receiver may take to answer. */
const PATIENCE = 30_000;

/** The address of `--forward-to`. Throws a Failure (exit 2) for one that messages cannot be sent to safely. */
export function readReceiver(text: string, allowHttp: boolean): URL {
  const source = '--forward-to';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usageFailure(`${source} must be a URL such as http://localhost:3000/hook.`, { source });
  }
  // The text itself is not repeated: it holds a password.
  if (url.username !== '' || url.password !== '') {
    throw usageFailure(`${source} must not hold a user name or password.`, { source });
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    const message = `${source} is plain http://, which would send patient data unencrypted to ${url.host}.`;
    throw localFailure('usage.insecure', message, { source });
  }
  return url;
}

export interface PostOptions {
  readonly send: Send;
  readonly url: URL;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** UTC milliseconds. */
  readonly now: () => number;
  readonly patience?: number;
}

/**
 * POSTs a message as JSON, without the token of the API or anything else about the connection it came by. Throws
 * NotTaken for every answer but 2xx and for none.
 */
export async function postMessage({ id }: StreamMessage, text: string, posting: PostOptions): Promise<void> {
  const { send, url, userAgent, signal, now, patience = PATIENCE } = posting;
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
    const { status, headers } = await withTimeout(sending, patience, signal);
    if (status >= 200 && status < 300) return;
    throw new NotAccepted(`${url.host} answered HTTP ${status}.`, { retryAfter: retryAfterOf(headers, now()) });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof NotAccepted) throw cause;
    if (cause instanceof WaitTimeout)
      throw new NotAccepted(`${url.host} did not answer within ${patience / 1000} s.`, { cause });
    const message = cause instanceof ConnectionFailure ? cause.message : `The connection to ${url.host} was cut.`;
    throw new NotAccepted(message, { cause });
  } finally {
    closing.abort(new Error('The answer is no longer needed.'));
  }
}

/** Reads what comes, which frees the connection for the next message, and forgets it. */
async function readToEnd(response: IncomingResponse): Promise<IncomingResponse> {
  for await (const chunk of response.body) void chunk;
  return response;
}
