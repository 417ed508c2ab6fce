import { RESYNC } from '../../catalog/stream/domains.ts';
import type { StreamMessage } from '../../catalog/stream/messages.ts';
import type { PositionSaver } from './positions.ts';
import type { StreamItem } from './source.ts';

/** Handles a message and its JSON text; only this one is in memory meanwhile. */
export type MessageHandler = (message: StreamMessage, text: string) => Promise<void>;

/** Options of `listen`. */
export interface ListenOptions {
  /** Called in their order; a message is handled once all of them resolve. */
  readonly handlers: readonly MessageHandler[];
  readonly positionSaver?: PositionSaver | undefined;
  /** No position is saved yet: the start of the first connection is. */
  readonly isNew: boolean;
  /** Messages after which to end. */
  readonly limit: number | undefined;
  readonly onOpened: () => void;
  /** Called when the server no longer has messages that the listener has not seen. */
  readonly onResync: (message: StreamMessage) => Promise<void>;
}

/**
 * Handles message after message, in order and one at a time; the position is saved once all handlers have resolved, so
 * that after a crash a message may be repeated but none is lost. Returns the number of messages.
 */
export async function listen(items: AsyncIterable<StreamItem>, options: ListenOptions): Promise<number> {
  const { handlers, positionSaver, limit, onOpened, onResync } = options;
  let { isNew } = options;
  let count = 0;
  for await (const item of items) {
    if (item.kind === 'opened') {
      if (isNew && item.position !== undefined) await positionSaver?.start(item.position);
      isNew = false;
      onOpened();
    } else if (item.kind === 'seen') {
      if (item.position !== undefined) await positionSaver?.advance(item.position);
    } else {
      if (item.message.operation === RESYNC) await onResync(item.message);
      for (const handle of handlers) await handle(item.message, item.text);
      item.handled();
      await positionSaver?.advance(item.position);
      if (++count === limit) break;
    }
  }
  return count;
}
