import { retryDelay } from '../../transport/retry.ts';
import type { IncomingResponse } from '../../transport/send.ts';
import { attemptLink, type LinkFetching, lengthOf, wholeOf } from './linkattempt.ts';

export type { LinkFetching } from './linkattempt.ts';

/** Takes the body of one attempt: chunk by chunk, whole when it returns. Called anew for each attempt. */
export type Take<T> = (chunks: AsyncIterable<Uint8Array>, headers: IncomingResponse['headers']) => Promise<T>;

/**
 * Fetches all of a signed link with the retries of a GET. A body that is shorter or longer than announced counts as
 * cut off. Throws LinkRefused for a link that is not valid, a Failure otherwise.
 */
export async function fetchLink<T>(url: URL, fetching: LinkFetching, take: Take<T>): Promise<T> {
  for (let number = 1; ; number++) {
    const ended = await attemptLink(url, fetching, { statuses: [200] }, ({ headers, chunks }) =>
      take(wholeOf(chunks, lengthOf(headers)), headers),
    );
    if ('value' in ended) return ended.value;
    if (!ended.again || number > fetching.retry.maxRetries) throw ended.failure;
    await fetching.clock.sleep(retryDelay(number, fetching.retry, fetching.random, ended.retryAfter), fetching.signal);
  }
}
