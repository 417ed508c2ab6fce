import type { Network, NetworkOptions } from '../../../src/core/transport/network.ts';
import type { Draws } from '../../faithful/random.ts';
import { openNetwork } from './network.ts';

/** What may happen while a sync runs. */
export interface Troubles {
  /** Called before each request. */
  readonly before?: () => Promise<void>;
  /** Whether the service has a stream; asked for each request. */
  readonly hasStream?: () => boolean;
  /** Responses that are cut off in the middle, as a share of all. */
  readonly cuts?: number;
  /**
   * How often a message comes again, as a share of the places between two: it is sent at least once (D42), right after it was
   * or any time later, over another connection too. For the first time messages always come in their order (D40).
   */
  readonly repeats?: number;
}

/** A network on which things go wrong, the same ones for the same draws as far as requests come in the same order. */
export function troubled(draws: Draws, { before, hasStream, cuts = 0, repeats = 0 }: Troubles) {
  const told: Told[] = [];
  const again = (reached: number) => {
    const known = told.filter(({ number }) => number <= reached);
    return known.length > 0 && draws.chance(repeats) ? draws.one(known).frame : '';
  };
  return (options: NetworkOptions): Network => {
    const network = openNetwork(options);
    const send: typeof network.send = async (request) => {
      await before?.();
      const isStream = request.url.includes('/stream');
      const isThere = !isStream || hasStream?.() !== false;
      const response = await network.send(
        isThere ? request : { ...request, url: request.url.replace('/stream', '/no') },
      );
      const start = request.headers['last-event-id'] ?? response.headers['x-stream-position'];
      const body = isStream ? repeating(response.body, { told, again, start: numberOf(start) }) : response.body;
      return { ...response, body: draws.chance(cuts) ? cut(body, draws.whole(0, 2)) : body };
    };
    return { ...network, send };
  };
}

/** A body that is cut off within a part, behind some whole ones. */
async function* cut(body: AsyncIterable<Uint8Array>, whole: number) {
  let left = whole;
  for await (const part of body) {
    if (--left < 0) {
      yield part.subarray(0, part.length / 2);
      break;
    }
    yield part;
  }
  throw new Error('The connection was cut off.');
}

/** A message of the stream, as it was sent. */
interface Told {
  readonly number: number;
  readonly frame: string;
}

interface Repeating {
  readonly told: Told[];
  /** A message up to a number that was told before; empty for none. */
  readonly again: (reached: number) => string;
  /** The number behind which the stream begins. */
  readonly start: number;
}

/** A stream in which messages come again that were told before. */
async function* repeating(body: AsyncIterable<Uint8Array>, { told, again, start }: Repeating) {
  const decoder = new TextDecoder();
  let isBetween = true;
  let reached = start;
  for await (const part of body) {
    const text = decoder.decode(part, { stream: true });
    const frames = isBetween ? text.split(/(?<=\n\n)/).filter((frame) => /^data:/m.test(frame)) : [];
    if (isBetween) yield* bytesOf(again(reached));
    yield part;
    isBetween = text.endsWith('\n\n');
    if (!isBetween) continue;
    for (const frame of frames) {
      const number = numberOf(/^id: ?(\S+)$/m.exec(frame)?.[1]);
      told.push({ number, frame });
      reached = number;
    }
    yield* bytesOf(again(reached));
  }
}

/** A part of a body; none for an empty text. */
function bytesOf(text: string): Uint8Array[] {
  return text === '' ? [] : [Buffer.from(text)];
}

/** The number of a position (D53). */
function numberOf(position: unknown): number {
  return Number(
    String(position ?? 0)
      .split('-')
      .at(-1),
  );
}
