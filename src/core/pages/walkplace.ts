import type { Operation } from '../../catalog/define.ts';
import type { Page, PageOptions } from './page.ts';
import type { SeenIds } from './seenids.ts';

export interface WalkOptions extends PageOptions {
  readonly pageSize: number;
  /** Stops after this many rows, without asking for more than that. */
  readonly limit?: number | undefined;
  /** Resumes where an earlier walk of the same question stopped. */
  readonly from?: WalkPosition | undefined;
  /** Rows that have come already, where pages are counted; those up to `from` where absent. */
  readonly seen?: SeenIds | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where a walk stands: every row up to `lastId` has come. */
export interface WalkPosition {
  /** The last id that came, `0` before the first. */
  readonly lastId: string;
  /** Rows that came. */
  readonly fetched: number;
}

export const START: WalkPosition = { lastId: '0', fetched: 0 };

/** A page, and where the walk stands after it; undefined where a later walk could not resume from there. */
export interface WalkedPage extends Page {
  readonly position: WalkPosition | undefined;
}

/** Whether a list pages by `lastId` as the specification has it. */
export function isByCursor({ paging, unpaged }: Operation): boolean {
  return paging?.style === 'cursor' && unpaged !== true;
}
