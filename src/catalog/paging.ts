/** Page sizes everywhere but async endpoints (D14). */
export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 500;

/**
 * How a bulk read pages and what its `meta.pagination` holds (D17).
 * `cursor`: `lastId` walk, `page` tolerated. `pages`: `page` only.
 */
export interface Paging {
  readonly style: 'cursor' | 'pages';
  readonly meta: (page: PageFacts) => Record<string, number>;
  /** The meta holds a real count, so the server has to count. */
  readonly counts: boolean;
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
  readonly total: number;
}

const last = (page: PageFacts) => (page.lastId === undefined ? {} : { lastId: page.lastId });

export const DOCUMENT_PAGING: Paging = {
  style: 'cursor',
  counts: false,
  meta: (page) => ({ limit: page.limit, offset: 0, total: 0, ...last(page) }),
};

export const PATIENT_PAGING: Paging = {
  style: 'cursor',
  counts: false,
  pageIsDeprecated: true,
  meta: (page) => ({
    limit: page.limit,
    ...(page.byCursor || page.page !== undefined ? {} : { total: 0 }),
    ...last(page),
  }),
};
