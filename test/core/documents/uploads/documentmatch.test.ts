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
    ['report.pdf', ' report.pdf ', true],
    ['report.pdf', 'report (1) (2).pdf', false],
    ['report.pdf', 'report(1).pdf', false],
    ['report.pdf', 'report ().pdf', false],
    ['report.pdf', 'report (1).pdf.pdf', true],
    ['report.pdf', 'report.pdf x', false],
    ['report.pdf.pdf', 'report.pdf', true],
    ['report', 'report', true],
    ['report', 'report (1)', true],
    ['report', 'reports', false],
    ['photo.jpg', 'photo.jpeg', true],
    ['photo.png', 'photo.jpg', false],
    ['a[b]{c}^$|\\/-?*.pdf', 'a[b]{c}^$|\\/-?*.pdf', true],
    ['a|b.pdf', 'a', false],
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
    ['told as text alone', { ownerPatient: '5' }, false],
    ['of another kind, and the one not told', { ownerOrganization: { id: 'org-1' } }, true],
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
    ['tags with spaces around them', { tags: [' x '] }, { tags: ['x'] }, true],
    ['tags that the service has with spaces', { tags: ['x'] }, { tags: [' X '] }, true],
    ['tags that are none', { tags: ['x'] }, { tags: null }, false],
    ['no tags on both', {}, { tags: [] }, true],
    ['a date that is not told', { userDefinedDate: '2026-03-02' }, {}, true],
    [
      'tags, but another date',
      { tags: ['x'], userDefinedDate: '2026-03-02' },
      { tags: ['x'], userDefinedDate: '2026-03-03' },
      false,
    ],
    [
      'a date, but other tags',
      { tags: ['x'], userDefinedDate: '2026-03-02' },
      { tags: [], userDefinedDate: '2026-03-02' },
      false,
    ],
    ['no date on both', {}, { userDefinedDate: null }, true],
    ['a date that was not sent', {}, { userDefinedDate: '2026-03-02' }, true],
  ])('is there with %s: %o, %o', (_name, fields, document, expected) => {
    expect(hasTagsAndDate({ ...document }, wanted(fields))).toBe(expected);
  });
});
