import { describe, expect, it } from 'vitest';
import {
  hasTagsAndDate,
  isOfOwner,
  nameMatcher,
  type SoughtDocument,
} from '../../../../src/core/documents/uploads/documentmatch.ts';

describe('the name of a document', () => {
  it.each<[string, string, boolean]>([
    ['report.pdf', 'report.pdf', true],
    ['report.pdf', 'Report.PDF', true],
    ['report.pdf', 'report (1).pdf', true],
    ['report.pdf', 'report (12).pdf', true],
    ['report.pdf', 'report.pdf (1).pdf', true],
    ['report.pdf', 'report', true],
    ['report.pdf', 'report (1)', true],
    ['report.pdf', 'report.pdf.pdf', true],
    ['report.pdf', 'report (x).pdf', false],
    ['report.pdf', 'reports.pdf', false],
    ['report.pdf', 'a report.pdf', false],
    ['report.pdf', 'report.png', false],
    ['report (1).pdf', 'report.pdf', false],
    ['photo.jpeg', 'photo.jpg', true],
    ['photo.jpeg', 'photo (3).JFIF', true],
    ['photo.jpeg', 'photo.png', false],
    ['2026.03.02 a+b (x).pdf', '2026.03.02 a+b (x) (1).pdf', true],
    ['2026.03.02 a+b (x).pdf', '2026x03x02 a+b (x).pdf', false],
    ['Zoe\u0308.pdf', 'zo\u00eb.pdf', true],
  ])('%s is %s: %s', (wanted, name, expected) => {
    expect(nameMatcher(wanted)(name)).toBe(expected);
  });

  it('may be one that is not told', () => {
    expect(nameMatcher('report.pdf')(undefined)).toBe(true);
  });
});

describe('the owner of a document', () => {
  const sought = { owner: { field: 'ownerPatient', id: '5' } } as unknown as SoughtDocument;

  it.each<[string, object, boolean]>([
    ['the one', { ownerPatient: { id: 5 } }, true],
    ['the one, as text', { ownerPatient: { id: '5' } }, true],
    ['another', { ownerPatient: { id: 6 } }, false],
    ['none of this kind', { ownerPatient: null }, false],
    ['not told', {}, true],
  ])('is %s', (_name, document, expected) => {
    expect(isOfOwner({ ...document }, sought)).toBe(expected);
  });
});

describe('what a document was sent with', () => {
  const wanted = (fields: object) => ({ fields: { ...fields } }) as unknown as SoughtDocument;

  it.each<[string, object, object, boolean]>([
    ['tags in other letters', { tags: ['X-Ray', 'new'] }, { tags: ['NEW', 'x-ray', 'more'] }, true],
    ['a tag that is missing', { tags: ['X-Ray', 'new'] }, { tags: ['x-ray'] }, false],
    ['tags that are not told', { tags: ['X-Ray'] }, {}, true],
    ['no tags', {}, { tags: ['more'] }, true],
    ['a date', { userDefinedDate: '2026-03-02' }, { userDefinedDate: '2026-03-02' }, true],
    ['another date', { userDefinedDate: '2026-03-02' }, { userDefinedDate: '2026-03-03' }, false],
    ['a date that the service knows nothing of', { userDefinedDate: '2026-03-02' }, { userDefinedDate: null }, true],
    ['a date that was not sent', {}, { userDefinedDate: '2026-03-02' }, true],
  ])('is there with %s: %o, %o', (_name, fields, document, expected) => {
    expect(hasTagsAndDate({ ...document }, wanted(fields))).toBe(expected);
  });
});
