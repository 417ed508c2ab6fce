import { describe, expect, it } from 'vitest';
import {
  DEFAULT_PAGE_SIZE,
  DOCUMENT_PAGING,
  HISTORY_PAGING,
  MAX_PAGE_SIZE,
  PATIENT_PAGING,
  type PageFacts,
  STANDARD_PAGING,
  TRANSACTION_PAGING,
} from '../../src/catalog/paging.ts';

const first: PageFacts = { limit: 100, offset: 0, page: undefined, byCursor: false, lastId: 114, total: 2000 };

describe('meta.pagination (D17)', () => {
  it.each([
    ['documents, first page', DOCUMENT_PAGING, first, { limit: 100, offset: 0, total: 0, lastId: 114 }],
    [
      'documents, later',
      DOCUMENT_PAGING,
      { ...first, byCursor: true, offset: 100 },
      { limit: 100, offset: 0, total: 0, lastId: 114 },
    ],
    ['documents, nothing left', DOCUMENT_PAGING, { ...first, lastId: undefined }, { limit: 100, offset: 0, total: 0 }],
    ['patients, plain', PATIENT_PAGING, first, { limit: 100, total: 0, lastId: 114 }],
    ['patients, by lastId', PATIENT_PAGING, { ...first, byCursor: true }, { limit: 100, lastId: 114 }],
    ['patients, by page', PATIENT_PAGING, { ...first, page: 2, offset: 100 }, { limit: 100, lastId: 114 }],
    ['patients, nothing left', PATIENT_PAGING, { ...first, byCursor: true, lastId: undefined }, { limit: 100 }],
    ['others, by offset', STANDARD_PAGING, { ...first, offset: 200 }, { limit: 100, offset: 200, lastId: 114 }],
    ['others, nothing left', STANDARD_PAGING, { ...first, lastId: undefined }, { limit: 100, offset: 0 }],
    [
      'transactions, plain',
      TRANSACTION_PAGING,
      first,
      { page: 1, pageSize: 100, total: 2000, limit: 100, offset: 0, lastId: 114 },
    ],
    [
      'transactions, by page, nothing left',
      TRANSACTION_PAGING,
      { ...first, page: 21, offset: 2000, lastId: undefined },
      { page: 21, pageSize: 100, total: 2000, limit: 100, offset: 2000 },
    ],
    ['histories, plain', HISTORY_PAGING, first, { limit: 100, offset: 0, total: 2000 }],
    ['histories, by page', HISTORY_PAGING, { ...first, page: 2, offset: 100 }, { limit: 100, offset: 100 }],
  ])('of %s', (_name, paging, facts, meta) => {
    expect(paging.meta?.(facts)).toEqual(meta);
  });

  it('has the sizes of D14', () => {
    expect([DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE]).toEqual([100, 500]);
  });
});
