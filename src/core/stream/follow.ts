import { localFailure } from '../failure.ts';
import { type RetryContext, retryDelay } from '../transport/retry.ts';
import { ConnectionLost, type StreamItem, type StreamSource } from './source.ts';

/** A connection was lost and will be made again after `wait` milliseconds. */
export interface ReconnectNotice {
  readonly reason: string;
  readonly wait: number;
  /** Connections in a row that brought nothing. */
  readonly failed: number;
}

/** Options of `follow`; `maxRetries` counts connections in a row that brought nothing. */
export interface FollowOptions extends RetryContext {
  readonly onLost?: (notice: ReconnectNotice) => void;
}

/**
 * Follows a source over as many connections as it takes, with growing delays between those that bring nothing. Ends only
 * by throwing: the Failure of a source, that of the last connection after `maxRetries`, or the signal's reason.
 */
export async function* follow(source: StreamSource, following: FollowOptions): AsyncGenerator<StreamItem, never> {
  const { clock, random, policy, maxRetries = Number.POSITIVE_INFINITY, signal, onLost } = following;
  for (let failed = 0; ; ) {
    signal.throwIfAborted();
    let lost = new ConnectionLost(localFailure('network.unreachable', 'The other side closed the connection.'));
    try {
      for await (const item of source.connect(signal)) {
        if (item.kind !== 'opened') failed = 0;
        yield item;
      }
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof ConnectionLost)) throw cause;
      lost = cause;
    }
    failed++;
    if (failed > maxRetries) throw lost.failure;
    const wait = retryDelay(failed, policy, random, lost.retryAfter);
    onLost?.({ reason: lost.message, wait, failed });
    await clock.sleep(wait, signal);
  }
}
