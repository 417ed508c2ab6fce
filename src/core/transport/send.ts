import { codeOf } from '../failure.ts';

/** A request as it goes out: absolute URL, every header, and a body that can be made again for another attempt. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: OutgoingBody | undefined;
  /** Called by an attempt with the headers of a 2xx response, before its body is read. */
  readonly onHead?: ((headers: IncomingResponse['headers']) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Text, or bytes of known length that are opened anew for each attempt; a Failure in reading them ends the request. */
export type OutgoingBody = string | { readonly length: number; readonly open: () => AsyncIterable<Uint8Array> };

/** A response: header names in lower case, the body unread. */
export interface IncomingResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The one way out. Over the network it is undici (`network.ts`); in tests it is the real server called in process.
 * Rejects with a `ConnectionFailure` when no complete response head arrived.
 */
export type Send = (request: OutgoingRequest) => Promise<IncomingResponse>;

/** Whether a status is 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** No response. `sent`: whether the whole body may have reached the server, which leaves a write's outcome unknown. */
export class ConnectionFailure extends Error {
  readonly sent: boolean;

  constructor(message: string, options: { readonly sent: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'ConnectionFailure';
    this.sent = options.sent;
  }
}

const CERTIFICATE_CODES = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/;

/** Whether a connection failed because the certificate of the other side is not trusted. */
export function isCertificateProblem(cause: unknown): boolean {
  return CERTIFICATE_CODES.test(codeOf(cause) ?? '');
}

/** Callbacks while a body is read. */
export interface BodyObserver {
  /** Called right before a chunk is handed over. */
  readonly onChunk: (bytes: Uint8Array) => void;
  /** Called when the reader asks for more than there is: all of it was taken. */
  readonly onEnd?: () => void;
}

/** The chunks of a body, reported to an observer. No generator: one around another costs time for each chunk. */
export function observedBody(
  body: AsyncIterable<Uint8Array>,
  observer: BodyObserver,
): AsyncIterableIterator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const observed: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => observed,
    next: async () => {
      const next = await chunks.next();
      if (next.done) observer.onEnd?.();
      else observer.onChunk(next.value);
      return next;
    },
    // Called when it is not read to its end, so that files are closed.
    return: async () => (await chunks.return?.()) ?? { done: true, value: undefined },
  };
  return observed;
}
