import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  baseNameOf,
  baseNameProblem,
  canonicalMimeType,
  documentName,
  endsInKnownType,
  isImage,
  MIME_TYPES,
  type MimeType,
  mediaTypeOf,
  mimeType,
  sentBaseName,
  storedName,
} from '../../../src/catalog/resources/documentnames.ts';
import { readWith } from '../fields/reading.ts';

describe('file types (specification, Document)', () => {
  it('are those listed', () => {
    expect([...MIME_TYPES].sort()).toEqual(
      ['DOC', 'DOCX', 'GIF', 'JPEG', 'MSG', 'PDF', 'PNG', 'PPT', 'PPTX', 'XLS', 'XLSX'].sort(),
    );
  });

  it('are images or not', () => {
    expect(MIME_TYPES.filter(isImage).sort()).toEqual(['GIF', 'JPEG', 'PNG']);
  });

  it.each([
    ['JPG', 'JPEG'],
    ['JPE', 'JPEG'],
    ['JIF', 'JPEG'],
    ['JFIF', 'JPEG'],
    ['JFI', 'JPEG'],
    ['jpg', 'JPEG'],
    ['JPEG', 'JPEG'],
    [' pdf ', 'PDF'],
    ['Docx', 'DOCX'],
  ])('%j means %s', (input, type) => {
    expect(canonicalMimeType(input)).toBe(type);
    expect(readWith(mimeType(), input)).toMatchObject({ value: type, problems: [] });
  });

  it.each(['TIFF', 'image/png', '.pdf', '', 'toString', 'JP G'])('%j is refused with the list', (input) => {
    const read = readWith(mimeType(), input);
    expect(read.problems).toEqual(['field.choice field']);
    expect(read.descriptions[0]).toContain('PDF, JPEG, PNG, GIF, DOC, DOCX, PPT, PPTX, XLS, XLSX, MSG, JPG');
  });

  it.each<[MimeType, string]>([
    ['PDF', 'application/pdf'],
    ['JPEG', 'image/jpeg'],
    ['DOC', 'application/msword'],
    ['XLSX', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['MSG', 'application/vnd.ms-outlook'],
  ])('%s is served as %s', (type, media) => {
    expect(mediaTypeOf(type)).toBe(media);
  });
});

describe('stored names (D36)', () => {
  it.each<[sent: string, type: MimeType, stored: string]>([
    ['report', 'PDF', 'report.pdf'],
    ['report.pdf', 'PDF', 'report.pdf'],
    ['a.PDF', 'PDF', 'a.pdf'],
    ['a.pdf.pdf', 'PDF', 'a.pdf.pdf'],
    ['a.txt', 'PDF', 'a.txt.pdf'],
    ['a.png', 'PDF', 'a.png.pdf'],
    ['photo', 'JPEG', 'photo.jpeg'],
    ['photo.jpg', 'JPEG', 'photo.jpeg'],
    ['photo.JPE', 'JPEG', 'photo.jpeg'],
    ['photo.jif', 'JPEG', 'photo.jpeg'],
    ['photo.jfif', 'JPEG', 'photo.jpeg'],
    ['photo.jfi', 'JPEG', 'photo.jpeg'],
    ['photo.jpeg', 'JPEG', 'photo.jpeg'],
    ['letter.doc', 'DOCX', 'letter.doc.docx'],
    ['letter.docx', 'DOC', 'letter.docx.doc'],
    ['v1.2', 'PDF', 'v1.2.pdf'],
    ['scan (1)', 'PDF', 'scan (1).pdf'],
    ['a .pdf', 'PDF', 'a.pdf'],
    ['été', 'GIF', 'été.gif'],
  ])('%s of type %s is stored as %s', (sent, type, stored) => {
    expect(storedName(baseNameOf(sent, type), type)).toBe(stored);
  });

  it('may be sent back unchanged', () => {
    const name = fc.string({ minLength: 1, unit: fc.constantFrom(...'aB. (1)pdfjgé') }).map((text) => text.trim());
    fc.assert(
      fc.property(name, fc.constantFrom(...MIME_TYPES), (sent, type) => {
        const stored = storedName(baseNameOf(sent, type), type);
        expect(storedName(baseNameOf(stored, type), type)).toBe(stored);
      }),
    );
  });

  it.each([
    ['one character', 'a', undefined],
    ['70 characters', 'a'.repeat(70), undefined],
    ['70 code points', '\u{1f9b7}'.repeat(70), undefined],
    ['none', '', 'name must have 1 to 70 characters before the extension, it has 0.'],
    ['71', 'a'.repeat(71), 'name must have 1 to 70 characters before the extension, it has 71.'],
  ])('the base may have 1 to 70 characters: %s', (_name, base, problem) => {
    expect(baseNameProblem(base)).toBe(problem);
  });

  it('the limit is on the base: 70 and an extension that fits pass', () => {
    const sent = `${'a'.repeat(70)}.PDF`;
    expect(readWith(documentName(), sent)).toMatchObject({ value: sent, problems: [] });
    expect(baseNameProblem(baseNameOf(sent, 'PDF'))).toBeUndefined();
    expect(baseNameProblem(baseNameOf(sent, 'PNG'))).toContain('it has 74');
    expect(baseNameProblem(baseNameOf('.pdf', 'PDF'))).toContain('it has 0');
  });

  it('a name is sent without any extension that fits its type, so that no service takes one too many off (D50)', () => {
    expect(sentBaseName('scan.pdf.PDF', 'PDF')).toBe('scan');
    expect(sentBaseName('scan.jpg.jpeg.jfif', 'JPEG')).toBe('scan');
    expect(sentBaseName('scan.pdf.png', 'PDF')).toBe('scan.pdf.png');
    expect(sentBaseName('scan', 'PDF')).toBe('scan');
  });

  it.each([
    ['scan.pdf', true],
    ['scan.JPG', true],
    ['scan.pdf.txt', false],
    ['pdf', false],
    ['scan.', false],
  ])('%j ends in a known type: %j', (name, known) => {
    expect(endsInKnownType(name)).toBe(known);
  });

  it.each(['a/b', 'a\\b', '../a', 'a\tb', 'a\nb', '/'])('%j is refused', (name) => {
    expect(readWith(documentName(), name)).toEqual({
      value: undefined,
      problems: ['field.format field'],
      descriptions: ['field must not contain /, \\ or control characters.'],
    });
  });

  it.each(['a\u0001b', 'a\u007fb', 'a\u0085b'])('%j is refused, to be sent to any service as well', (name) => {
    expect(readWith(documentName(), name).problems).toEqual(['field.format field']);
    expect(readWith(documentName(), name, { forService: true }).problems).toEqual(['field.format field']);
  });

  it.each(['', '   ', null, 5])('%j is refused', (name) => {
    expect(readWith(documentName(), name).problems).toHaveLength(1);
  });
});
