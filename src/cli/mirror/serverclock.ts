import type { Connections } from '../connections.ts';
import type { Context } from '../context.ts';

/**
 * Milliseconds that the clock of the server is ahead of ours, by the header `Date` of its last response; undefined while
 * none has said. For connections that are not open yet.
 */
export function serverClock(connections: Connections, { clock }: Pick<Context, 'clock'>): () => number | undefined {
  let ahead: number | undefined;
  connections.onHeaders = ({ date }) => {
    const time = Date.parse(date ?? '');
    if (!Number.isNaN(time)) ahead = time - clock.now();
  };
  return () => ahead;
}
