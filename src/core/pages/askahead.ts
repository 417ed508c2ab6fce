import type { Page } from './page.ts';

/** Asks for the page after an id; `onLastId` is called with what its answer says is its last id. */
type Ask = (after: bigint, onLastId: (id: bigint) => void) => Promise<Page>;

/** A page that has been asked for. */
interface Asked {
  readonly after: bigint;
  readonly page: Promise<Page>;
  /** What its answer says is its last id; `after` until it came. */
  announced: bigint;
}

/**
 * Pages by cursor, one at a time and one ahead: the next page is asked for as soon as the answer that is waited for
 * names its last id, so that the server works on it while records are on their way.
 */
export class Prefetcher {
  private current: Asked | undefined;
  private ahead: Asked | undefined;
  private readonly ask: Ask;
  private readonly mayAsk: (lastId: bigint) => boolean;

  /** `mayAsk`: whether to ask ahead for the page after an id that has been named. */
  constructor(ask: Ask, mayAsk: (lastId: bigint) => boolean) {
    this.ask = ask;
    this.mayAsk = mayAsk;
  }

  /** The page after an id, with the last id that its answer names; what was asked for after another id is dropped. */
  take(after: bigint): Readonly<Asked> {
    const asked = this.ahead?.after === after ? this.ahead : this.begin(after);
    this.ahead = undefined;
    this.current = asked;
    this.goAhead(asked);
    return asked;
  }

  private begin(after: bigint): Asked {
    const page = this.ask(after, (id) => {
      asked.announced = id;
      this.goAhead(asked);
    });
    const asked: Asked = { after, page, announced: after };
    // Its failure surfaces where the page is awaited.
    page.catch(() => undefined);
    return asked;
  }

  /** Only after the page that is waited for, so that no more than one is ahead. */
  private goAhead(asked: Asked): void {
    const { after, announced } = asked;
    if (asked !== this.current || announced <= after || !this.mayAsk(announced)) return;
    if (this.ahead?.after !== announced) this.ahead = this.begin(announced);
  }
}
