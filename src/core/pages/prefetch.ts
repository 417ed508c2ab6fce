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
 * Pages by cursor with one prefetched: the next page is requested as soon as the response being awaited announces its
 * last id, so that the server works on it while records are transferred.
 */
export class Prefetcher {
  private current: RequestedPage | undefined;
  private ahead: RequestedPage | undefined;
  private readonly fetch: Fetch;
  private readonly mayPrefetch: (lastId: bigint) => boolean;

  /** `mayPrefetch`: whether to prefetch the page after an announced id. */
  constructor(fetch: Fetch, mayPrefetch: (lastId: bigint) => boolean) {
    this.fetch = fetch;
    this.mayPrefetch = mayPrefetch;
  }

  /** The page after an id; a prefetched page after another id is dropped. */
  take(after: bigint): Readonly<RequestedPage> {
    const requested = this.ahead?.after === after ? this.ahead : this.begin(after);
    this.ahead = undefined;
    this.current = requested;
    this.prefetch(requested);
    return requested;
  }

  private begin(after: bigint): RequestedPage {
    const page = this.fetch(after, (id) => {
      requested.announced = id;
      this.prefetch(requested);
    });
    const requested: RequestedPage = { after, page, announced: after };
    // Its failure surfaces where the page is awaited.
    page.catch(() => undefined);
    return requested;
  }

  /** Only after the page being awaited, so that no more than one is ahead. */
  private prefetch(requested: RequestedPage): void {
    const { after, announced } = requested;
    if (requested !== this.current || announced <= after || !this.mayPrefetch(announced)) return;
    if (this.ahead?.after !== announced) this.ahead = this.begin(announced);
  }
}
