import type { Operation } from '../../catalog/define.ts';
import type { Page, PageOptions } from './page.ts';
import type { SeenIds } from './seenids.ts';

/** What every walk takes. */
export interface WalkOptions extends PageOptions {
  readonly pageSize: number;
  /** Ends after this many rows, without requesting more. */
  readonly limit?: number | undefined;
  /** Resumes an earlier walk with the same options. */
  readonly from?: WalkPosition | undefined;
  /** Rows that have arrived already, where pages are numbered; those up to `from` where absent. */
  readonly seen?: SeenIds | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How far a walk has come: every row up to `lastId` has arrived. */
export interface WalkPosition {
  /** The last id that arrived, `0` before the first. */
  readonly lastId: string;
  /** Rows that arrived. */
  readonly fetched: number;
}

/** The position before the first row. */
export const START: WalkPosition = { lastId: '0', fetched: 0 };

/** A page, and the position after it; undefined where a later walk could not resume from there. */
export interface WalkedPage extends Page {
  readonly position: WalkPosition | undefined;
}

/** Whether a list pages by `lastId` as specified. */
export function isByCursor({ paging, unpaged }: Operation): boolean {
  return paging?.style === 'cursor' && unpaged !== true;
}

/** Whether a list numbers its pages. */
export function isByNumber({ paging }: Operation): boolean {
  return paging?.style === 'pages';
}
