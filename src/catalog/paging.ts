/** Page sizes everywhere but async endpoints (D14). */
export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 500;

/**
 * How a bulk read pages and what its `meta.pagination` holds (D17).
 * `cursor`: `lastId` walk, `page` tolerated. `pages`: `page` only.
 */
export interface Paging {
  readonly style: 'cursor' | 'pages';
  readonly meta?: (page: PageFacts) => Record<string, number>;
  /** Whether the meta holds a real count, so that the server has to count: never, always, or unless a page is requested. */
  readonly counts: 'never' | 'always' | 'without a page';
  /** Largest page; larger ones are refused, or cut to it where `capped` says so (D14). */
  readonly max?: number;
  readonly capped?: boolean;
  /** Asking by `page` still works but is warned about (specification, Versioning 3; D45). */
  readonly pageIsDeprecated?: boolean;
}

/** What is known about a served page. `lastId`: id of its last record, absent when the page is empty. */
export interface PageFacts {
  readonly limit: number;
  readonly offset: number;
  readonly page: number | undefined;
  readonly byCursor: boolean;
  readonly lastId: number | undefined;
  /** The real count where the paging counts, otherwise 0. */
  readonly total: number;
}

const last = (page: PageFacts) => (page.lastId === undefined ? {} : { lastId: page.lastId });

export const DOCUMENT_PAGING: Paging = {
  style: 'cursor',
  counts: 'never',
  meta: (page) => ({ limit: page.limit, offset: 0, total: 0, ...last(page) }),
};

export const PATIENT_PAGING: Paging = {
  style: 'cursor',
  counts: 'never',
  pageIsDeprecated: true,
  meta: (page) => ({
    limit: page.limit,
    ...(page.byCursor || page.page !== undefined ? {} : { total: 0 }),
    ...last(page),
  }),
};

/** Everything that has no rule of its own: `limit`, `offset`, `lastId`. */
export const STANDARD_PAGING: Paging = {
  style: 'cursor',
  counts: 'never',
  meta: (page) => ({ limit: page.limit, offset: page.offset, ...last(page) }),
};

export const TRANSACTION_PAGING: Paging = {
  style: 'cursor',
  counts: 'always',
  meta: (page) => ({
    page: page.page ?? 1,
    pageSize: page.limit,
    total: page.total,
    limit: page.limit,
    offset: page.offset,
    ...last(page),
  }),
};

/** Appointment histories know no cursor; they have a total unless a page is requested. */
export const HISTORY_PAGING: Paging = {
  style: 'pages',
  counts: 'without a page',
  meta: (page) => ({ limit: page.limit, offset: page.offset, ...(page.page === undefined && { total: page.total }) }),
};

/** Async endpoints return at most ten records and no pagination (specification, Async endpoints; D14). */
export const ASYNC_PAGING: Paging = { style: 'cursor', counts: 'never', max: 10, capped: true };
