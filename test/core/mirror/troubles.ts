import { type NetworkOptions, openNetwork } from '../../../src/core/transport/network.ts';
import type { Draws } from '../../faithful/random.ts';

/** What may happen while a sync runs. */
export interface Troubles {
  /** Called before each request. */
  readonly before?: () => Promise<void>;
  /** Whether the service has a stream; asked for each request. */
  readonly hasStream?: () => boolean;
  /** Responses that are cut off in the middle, as a share of all. */
  readonly cuts?: number;
  /** Parts of the stream that come twice, as a share of all: it sends messages at least once (D42). */
  readonly repeats?: number;
}

/** A network on which things go wrong, the same ones for the same draws as far as requests come in the same order. */
export function troubled(draws: Draws, { before, hasStream, cuts = 0, repeats = 0 }: Troubles) {
  return (options: NetworkOptions): ReturnType<typeof openNetwork> => {
    const network = openNetwork(options);
    const send: typeof network.send = async (request) => {
      await before?.();
      const isStream = request.url.includes('/stream');
      const isThere = !isStream || hasStream?.() !== false;
      const response = await network.send(
        isThere ? request : { ...request, url: request.url.replace('/stream', '/no') },
      );
      const isCut = draws.chance(cuts);
      return { ...response, body: spoiled(response.body, isCut, isStream ? () => draws.chance(repeats) : () => false) };
    };
    return { ...network, send };
  };
}

async function* spoiled(body: AsyncIterable<Uint8Array>, isCut: boolean, isRepeated: () => boolean) {
  for await (const part of body) {
    if (isCut) {
      yield part.subarray(0, part.length / 2);
      throw new Error('The connection was cut off.');
    }
    yield part;
    // Only whole messages come twice.
    if (part.at(-1) === LINE_FEED && part.at(-2) === LINE_FEED && isRepeated()) yield part;
  }
}

const LINE_FEED = 0x0a;
