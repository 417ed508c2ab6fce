import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  joinTags,
  rowKey,
  splitTags,
  type UploadRow,
  withDefaults,
} from '../../../../src/core/documents/uploads/uploadrow.ts';

const row = (more: Partial<UploadRow> = {}): UploadRow => ({ file: 'a.pdf', tags: [], ...more });

describe('what a row is known by in another run', () => {
  it.each<[string, Partial<UploadRow>, boolean]>([
    ['nothing more', {}, true],
    ['other tags, type and date', { tags: ['x'], mimeType: 'PDF', userDefinedDate: '2026-01-02' }, true],
    ['cells that are empty', { name: '', patient: '', perioExam: '' }, true],
    ['another line', { location: 'scans.csv line 3' }, true],
    ['another file', { file: 'b.pdf' }, false],
    ['a name', { name: 'n' }, false],
    ['a patient', { patient: 'n' }, false],
    ['a perio exam', { perioExam: 'n' }, false],
  ])('with %s', (_name, more, same) => {
    expect(rowKey(row(more)) === rowKey(row())).toBe(same);
  });

  it('keeps names, patients and perio exams apart', () => {
    const rows = ['5', '6'].flatMap((text) => [{ name: text }, { patient: text }, { perioExam: text }]);
    expect(new Set(rows.map((more) => rowKey(row(more)))).size).toBe(6);
  });
});

describe('flags', () => {
  it.each<[string, Partial<UploadRow>, Partial<UploadRow>, Partial<UploadRow>]>([
    ['fill in what is open', {}, { name: 'n', mimeType: 'PDF', crop: 'c' }, { name: 'n', mimeType: 'PDF', crop: 'c' }],
    [
      'change nothing that is given',
      { name: 'm', mimeType: 'PNG' },
      { name: 'n', mimeType: 'PDF' },
      { name: 'm', mimeType: 'PNG' },
    ],
    ['name the patient', {}, { patient: '5' }, { patient: '5' }],
    ['name the exam', {}, { perioExam: '5' }, { perioExam: '5' }],
    ['give no second owner beside a patient', { patient: '6' }, { perioExam: '5' }, { patient: '6' }],
    ['give no second owner beside an exam', { perioExam: '6' }, { patient: '5' }, { perioExam: '6' }],
    ['give tags where there are none', {}, { tags: ['x'] }, { tags: ['x'] }],
    ['leave tags alone', { tags: ['y'] }, { tags: ['x'] }, { tags: ['y'] }],
  ])('%s', (_name, given, defaults, expected) => {
    expect(withDefaults(row(given), defaults)).toEqual(row(expected));
  });
});

describe('the tags of one cell', () => {
  it.each<[string, string[]]>([
    ['', []],
    [' ; ;', []],
    ['a', ['a']],
    [' a b ; c;', ['a b', 'c']],
    ['a\\;b;c', ['a;b', 'c']],
    ['a\\\\;b', ['a\\', 'b']],
    ['a\\b;c\\', ['a\\b', 'c\\']],
  ])('%j', (cell, tags) => {
    expect(splitTags(cell)).toEqual(tags);
  });

  it('are those that were joined', () => {
    expect(joinTags(['a;b', 'c\\', 'd'])).toBe('a\\;b;c\\\\;d');
    const tag = fc
      .string({ unit: fc.constantFrom(...'a;\\ ') })
      .map((text) => text.trim())
      .filter((text) => text !== '');
    fc.assert(
      fc.property(fc.array(tag), (tags) => {
        expect(splitTags(joinTags(tags))).toEqual(tags);
      }),
    );
  });
});
