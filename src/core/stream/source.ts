import type { StreamMessage } from '../../catalog/stream/messages.ts';
import type { Failure } from '../failure.ts';

/** What comes from a connection to a stream. */
export type StreamItem =
  /** It is connected; messages after `position` come, where that is known. */
  | { readonly kind: 'opened'; readonly position: number | undefined }
  | {
      readonly kind: 'message';
      readonly message: StreamMessage;
      /** The message as it came, JSON on one line. */
      readonly text: string;
      /** To be called once the message is dealt with: a connection made later begins behind it. */
      readonly handled: () => void;
    }
  /** A sign of life: nothing up to this message is left that was asked for, where that is known. */
  | { readonly kind: 'seen'; readonly position: number | undefined };

/** Where messages come from. */
export interface StreamSource {
  /**
   * Connects once, behind the last message that was handled, and gives what comes until the connection ends. Throws
   * `Lost` when another try may help, a Failure when none can, and the signal's reason.
   */
  readonly connect: (signal: AbortSignal) => AsyncGenerator<StreamItem, void>;
}

/** A connection that could not be made or broke; another may do better. */
export class ConnectionLost extends Error {
  /** What to report when nobody tries again. */
  readonly failure: Failure;
  /** Milliseconds that the other side asks to be left alone. */
  readonly retryAfter: number | undefined;

  constructor(failure: Failure, retryAfter?: number) {
    super(failure.message, { cause: failure });
    this.name = 'Lost';
    this.failure = failure;
    this.retryAfter = retryAfter;
  }
}
