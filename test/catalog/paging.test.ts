import { describe, expect, it } from 'vitest';
import {
  DEFAULT_PAGE_SIZE,
  DOCUMENT_PAGING,
  MAX_PAGE_SIZE,
  PATIENT_PAGING,
  type PageFacts,
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
  ])('of %s', (_name, paging, facts, meta) => {
    expect(paging.meta?.(facts)).toEqual(meta);
  });

  it('has the sizes of D14', () => {
    expect([DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE]).toEqual([100, 500]);
  });
});
