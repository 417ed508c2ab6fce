/** A request as it goes out: absolute URL, every header, and a body that can be made again for another attempt. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: OutgoingBody;
  /** Called by an attempt with the headers of an answer of 2xx, before its body is read. */
  readonly onHead?: (headers: IncomingResponse['headers']) => void;
  readonly signal?: AbortSignal;
}

/**
 * Text, or a source of bytes of known total length that is opened anew for each attempt. A Failure that it throws while it
 * is read ends the request: another attempt would not help.
 */
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

/** No response. `sent`: whether the whole body may have reached the server, so that the outcome of a write is unknown. */
export class ConnectionFailure extends Error {
  readonly sent: boolean;

  constructor(message: string, options: { readonly sent: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'ConnectionFailure';
    this.sent = options.sent;
  }
}
