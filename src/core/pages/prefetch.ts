import type { Page } from './page.ts';

/** Requests the page after an id; `onLastId` is called with what the response announces as its last id. */
type Fetch = (after: bigint, onLastId: (id: bigint) => void) => Promise<Page>;

/** A page that has been requested. */
interface RequestedPage {
  readonly after: bigint;
  readonly page: Promise<Page>;
  /** What the response announces as its last id; `after` until then. */
  announced: bigint;
}

/**
 * Fetches pages by cursor with one prefetched: the next page is requested as soon as the response being awaited
 * announces its last id, so that the server works on it while records are transferred. `mayPrefetch`: whether to
 * prefetch the page after an announced id. The function returns the page after an id; a prefetched page after another
 * id is dropped.
 */
export function prefetcher(
  fetch: Fetch,
  mayPrefetch: (lastId: bigint) => boolean,
): (after: bigint) => Readonly<RequestedPage> {
  let current: RequestedPage | undefined;
  let ahead: RequestedPage | undefined;
  const request = (after: bigint): RequestedPage => {
    const page = fetch(after, (id) => {
      requested.announced = id;
      prefetch(requested);
    });
    const requested: RequestedPage = { after, page, announced: after };
    // Its failure surfaces where the page is awaited.
    page.catch(() => undefined);
    return requested;
  };
  // Only after the page being awaited, so that no more than one is ahead.
  const prefetch = (requested: RequestedPage) => {
    const { after, announced } = requested;
    if (requested !== current || announced <= after || !mayPrefetch(announced)) return;
    if (ahead?.after !== announced) ahead = request(announced);
  };
  return (after) => {
    const requested = ahead?.after === after ? ahead : request(after);
    ahead = undefined;
    current = requested;
    prefetch(requested);
    return requested;
  };
}
