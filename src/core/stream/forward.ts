import type { Clock } from '../clock.ts';
import type { Failure } from '../failure.ts';
import { type Backoff, retryDelay } from '../transport/retry.ts';

/** A receiver or a command did not take a message. */
export class NotAccepted extends Error {
  /** Milliseconds that it asks to be left alone. */
  readonly retryAfter: number | undefined;

  constructor(message: string, options: { readonly retryAfter?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'NotTaken';
    this.retryAfter = options.retryAfter;
  }
}

/** A message was not taken and is offered again after `wait` milliseconds. */
export interface ForwardRetryNotice {
  readonly messageId: number;
  readonly reason: string;
  readonly wait: number;
}

export interface ForwardOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly policy: Backoff;
  /** Retries after the first attempt; undefined: for ever. */
  readonly maxRetries: number | undefined;
  readonly signal: AbortSignal;
  readonly onRetry: (notice: ForwardRetryNotice) => void;
  /** The failure when the last attempt did not succeed. */
  readonly givenUp: (problem: NotAccepted, messageId: number, attempts: number) => Failure;
}

/** Offers a message until it is taken, with growing pauses. Throws what `givenUp` says, or the signal's reason. */
export async function forwardMessage(
  messageId: number,
  offer: () => Promise<void>,
  options: ForwardOptions,
): Promise<void> {
  const { clock, random, policy, maxRetries, signal, onRetry, givenUp } = options;
  for (let attempts = 1; ; attempts++) {
    signal.throwIfAborted();
    try {
      return await offer();
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof NotAccepted)) throw cause;
      if (maxRetries !== undefined && attempts > maxRetries) throw givenUp(cause, messageId, attempts);
      const wait = retryDelay(attempts, policy, random, cause.retryAfter);
      onRetry({ messageId, reason: cause.message, wait });
      await clock.sleep(wait, signal);
    }
  }
}
