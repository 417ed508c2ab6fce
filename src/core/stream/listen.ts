import { RESYNC } from '../../catalog/stream/domains.ts';
import type { StreamMessage } from '../../catalog/stream/messages.ts';
import type { PositionSaver } from './positionkeeper.ts';
import type { StreamItem } from './source.ts';

/** Takes a message and its JSON text; whoever waits holds no more than this one. */
export type MessageHandler = (message: StreamMessage, text: string) => Promise<void>;

export interface ListenOptions {
  /** In their order; a message that one of them does not take is not dealt with. */
  readonly handlers: readonly MessageHandler[];
  readonly positionSaver?: PositionSaver | undefined;
  /** No position is kept yet: the one at which the first connection begins is. */
  readonly isNew: boolean;
  /** Messages after which to end. */
  readonly limit: number | undefined;
  readonly onOpened: () => void;
  /** Told that messages are gone that the listener has not seen. */
  readonly onResync: (message: StreamMessage) => Promise<void>;
}

/**
 * Hands on message after message, in order and one at a time; the position moves behind each when everybody has taken
 * it, so that after a crash a message may come twice but none is left out. Gives the number of messages.
 */
export async function listen(items: AsyncIterable<StreamItem>, listening: ListenOptions): Promise<number> {
  const { handlers, positionSaver, limit, onOpened, onResync } = listening;
  let { isNew } = listening;
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
      for (const take of handlers) await take(item.message, item.text);
      item.handled();
      await positionSaver?.advance(item.message.id);
      if (++count === limit) break;
    }
  }
  return count;
}
