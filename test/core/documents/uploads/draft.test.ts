import { describe, expect, it } from 'vitest';
import { defaultName, draftDocument } from '../../../../src/core/documents/uploads/draft.ts';
import type { UploadRow } from '../../../../src/core/documents/uploads/uploadrow.ts';

const draft = (row: Partial<UploadRow>, type: 'PDF' | 'PNG' = 'PDF') =>
  draftDocument({ file: 'scan.pdf', tags: [], ...row }, type, 'org-1');

describe('the name of a document made of a file', () => {
  it.each([
    ['scan.pdf', 'scan'],
    ['a/b/Photo.JPG', 'Photo'],
    ['consent.final.docx', 'consent.final'],
    ['scan', 'scan'],
    ['scan.dat', 'scan'],
    ['visit 2026.01.15', 'visit 2026.01.15'],
    ['scan.abcde', 'scan'],
    ['scan.abcdef', 'scan.abcdef'],
    ['scan.7z', 'scan'],
    ['scan.a-b', 'scan.a-b'],
    ['scan.', 'scan.'],
    ['scan.PDF', 'scan'],
    ['2026-01-15', '2026-01-15'],
    ['Dr. Example', 'Dr. Example'],
    ['a.pdf.pdf', 'a.pdf'],
    ['e\u0301.pdf', '\u00e9'],
    ['.pdf', '.pdf'],
    ['scan.pdf ', 'scan'],
    [' scan .pdf', 'scan'],
  ])('%s: %s', (file, name) => {
    expect(defaultName(file)).toBe(name);
  });
});

describe('a document to send', () => {
  it.each([
    [
      'as little as can be',
      {},
      {
        fields: { name: 'scan', mimeType: 'PDF', file: {} },
        owner: { field: 'ownerOrganization', id: 'org-1' },
        storedName: 'scan.pdf',
      },
    ],
    [
      'everything',
      { name: 'Consent.PDF', patient: '07000000000114', tags: [' X-Ray ', 'b'], userDefinedDate: '2026-02-28' },
      {
        fields: {
          name: 'Consent',
          mimeType: 'PDF',
          ownerPatient: { id: 7_000_000_000_114 },
          tags: ['X-Ray', 'b'],
          userDefinedDate: '2026-02-28',
          file: {},
        },
        owner: { field: 'ownerPatient', id: '7000000000114' },
        storedName: 'Consent.pdf',
      },
    ],
    [
      'a perio exam',
      { perioExam: '12' },
      {
        fields: { name: 'scan', mimeType: 'PDF', ownerPerioExam: { id: 12 }, file: {} },
        owner: { field: 'ownerPerioExam', id: '12' },
        storedName: 'scan.pdf',
      },
    ],
    [
      'a base that ends in the extension',
      { file: 'a.pdf.pdf' },
      {
        fields: { name: 'a', mimeType: 'PDF', file: {} },
        owner: { field: 'ownerOrganization', id: 'org-1' },
        storedName: 'a.pdf',
      },
    ],
    [
      'a base that ends in the extension of another type',
      { file: 'a.doc.pdf' },
      {
        fields: { name: 'a.doc', mimeType: 'PDF', file: {} },
        owner: { field: 'ownerOrganization', id: 'org-1' },
        storedName: 'a.doc.pdf',
      },
    ],
    [
      'seventy characters before the extension',
      { name: `${'é'.repeat(70)}.pdf` },
      {
        fields: { name: 'é'.repeat(70), mimeType: 'PDF', file: {} },
        owner: { field: 'ownerOrganization', id: 'org-1' },
        storedName: `${'é'.repeat(70)}.pdf`,
      },
    ],
  ] as const)('%s', (_, row, expected) => {
    expect(draft(row)).toEqual(expected);
  });

  it('has the crop of an image', () => {
    expect(draft({ file: 'a.png', crop: '0, 5,100,80', ratio: '0.5' }, 'PNG').fields).toEqual({
      name: 'a',
      mimeType: 'PNG',
      file: { fromX: 0, fromY: 5, width: 100, height: 80, ratio: 0.5 },
    });
  });

  it.each([
    ['a long name', { name: 'x'.repeat(71) }, 'name must have 1 to 70 characters before the extension, it has 71.'],
    ['no name', { name: '  ' }, 'name must have 1 to 70 characters before the extension, it has 0.'],
    [
      'a name that is only the extension',
      { name: '.pdf' },
      'name must have 1 to 70 characters before the extension, it has 0.',
    ],
    ['a path for a name', { name: 'a/b' }, 'name must not contain /, \\ or control characters.'],
    ['a patient that is no id', { patient: 'Ann' }, 'ownerPatient.id must be a positive integer.'],
    ['two owners', { patient: '5', perioExam: '6' }, 'A document has one owner: give a patient or a perio exam.'],
    ['a long tag', { tags: ['ok', 'x'.repeat(51)] }, 'tags[1] must have 1 to 50 characters, it has 51.'],
    ['an empty tag', { tags: [' '] }, 'tags[0] must have 1 to 50 characters, it has 0.'],
    ['no date', { userDefinedDate: '2026-02-30' }, 'userDefinedDate must be a date that exists, written YYYY-MM-DD.'],
    [
      'a crop of a PDF',
      { crop: '0,0,5,5', ratio: '1' },
      'A PDF document cannot be cropped, only JPEG, PNG and GIF can.',
    ],
    [
      'several at once',
      { patient: '0', tags: [''], name: 'x'.repeat(80) },
      'name must have 1 to 70 characters before the extension, it has 80. ownerPatient.id must be a positive integer. tags[0] must have 1 to 50 characters, it has 0.',
    ],
  ])('is refused with %s', (_, row, message) => {
    expect(() => draft(row)).toThrow(expect.objectContaining({ message: `scan.pdf: ${message}`, exitCode: 2 }));
  });

  it.each([
    [
      'no patient',
      { patient: '?' },
      [['field.format', 'patient', 'Write the id of the patient in place of the ? in patient.']],
    ],
    [
      'no date',
      { userDefinedDate: '?' },
      [['field.format', 'userDefinedDate', 'Write a date, YYYY-MM-DD, in place of the ? in userDefinedDate.']],
    ],
    [
      'neither, no name, and a tag that is too long',
      { patient: '?', userDefinedDate: '?', name: '', tags: ['x'.repeat(51)] },
      [
        ['field.length', 'name', 'name must have 1 to 70 characters before the extension, it has 0.'],
        ['field.format', 'patient', 'Write the id of the patient in place of the ? in patient.'],
        ['field.format', 'userDefinedDate', 'Write a date, YYYY-MM-DD, in place of the ? in userDefinedDate.'],
      ],
    ],
    [
      'two owners',
      { patient: '5', perioExam: '6' },
      [['field.conflict', 'patient', 'A document has one owner: give a patient or a perio exam.']],
    ],
  ])('says where folders tell %s, or too much', (_, row, problems) => {
    const items = problems.map(([code, source, description]) => ({ code, source, description }));
    const message = `scan.pdf: ${problems.map(([, , description]) => description).join(' ')}`;
    expect(() => draft(row)).toThrow(expect.objectContaining({ message, exitCode: 2, code: 'usage.invalid', items }));
  });

  it('has one owner, the id of which is plain', () => {
    expect(draft({ patient: '0012' }).owner).toEqual({ field: 'ownerPatient', id: '12' });
    expect(draft({ perioExam: '0012' }).owner).toEqual({ field: 'ownerPerioExam', id: '12' });
  });

  it.each([
    [
      'without its ratio',
      { crop: '0,0,5,5' },
      'field.conflict',
      'ratio',
      'A crop needs a ratio too: 1 keeps its size.',
    ],
    [
      'of a ratio alone',
      { ratio: '1' },
      'field.conflict',
      'crop',
      'A ratio needs a crop too, written X,Y,WIDTH,HEIGHT.',
    ],
    [
      'with a part missing',
      { crop: '0,0,5', ratio: '1' },
      'field.conflict',
      'crop',
      'A crop is written X,Y,WIDTH,HEIGHT in pixels, not 0,0,5.',
    ],
    [
      'with a part too many',
      { crop: '0,0,5,5,5', ratio: '1' },
      'field.conflict',
      'crop',
      'A crop is written X,Y,WIDTH,HEIGHT in pixels, not 0,0,5,5,5.',
    ],
    ['of no width', { crop: '0,0,0,5', ratio: '1' }, 'field.range', 'file.width', 'file.width must be at least 1.'],
    [
      'left of the image',
      { crop: '-1,0,5,5', ratio: '1' },
      'field.range',
      'file.fromX',
      'file.fromX must be at least 0.',
    ],
    [
      'of words',
      { crop: 'a,0,5,5', ratio: '1' },
      'field.type',
      'file.fromX',
      'file.fromX must be an integer, not a string.',
    ],
    [
      'scaled to nothing',
      { crop: '0,0,5,5', ratio: '0' },
      'field.range',
      'file.ratio',
      'file.ratio must be more than 0.',
    ],
  ])('is refused with a crop %s', (_, row, code, source, description) => {
    const message = `a.png: ${description}`;
    expect(() => draft({ file: 'a.png', ...row }, 'PNG')).toThrow(
      expect.objectContaining({ message, items: [expect.objectContaining({ code, source })] }),
    );
  });
});
