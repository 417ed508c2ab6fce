import { describe, expect, it } from 'vitest';
import { link, list, map, object } from '../../../src/catalog/fields/composites.ts';
import { id, integer, number } from '../../../src/catalog/fields/numbers.ts';
import { choice, text } from '../../../src/catalog/fields/text.ts';
import { dateTime } from '../../../src/catalog/fields/times.ts';
import { inputOnly, optional, readOnly, required, requiredOnCreate } from '../../../src/catalog/record.ts';
import { fieldRows, typeOf } from '../../../src/server/docs/tables.ts';

describe('typeOf', () => {
  it.each([
    [id(), 'id'],
    [text(), 'text'],
    [text({ min: 1, max: 25 }), 'text, 1–25 characters'],
    [text({ max: 200 }), 'text, at most 200 characters'],
    [text({ min: 1 }), 'text, not empty'],
    [integer({ min: 5, max: 1440 }), 'integer, 5–1440'],
    [integer({ min: 0 }), 'integer, at least 0'],
    [number({ above: 0 }), 'number, more than 0'],
    [dateTime(), 'date-time'],
    [choice(['A', 'B']), 'listed value'],
    [link('PatientV1'), 'link to PatientV1'],
    [list(link('PatientV1')), 'list of link to PatientV1'],
    [map(link('TransactionTagV1')), 'map of link to TransactionTagV1'],
  ])('of %o is %s', (kind, expected) => {
    expect(typeOf(kind)).toBe(expected);
  });
});

describe('fieldRows', () => {
  it('show who may write a field, and the parts of objects', () => {
    const rows = fieldRows({
      id: readOnly(id(), 'Id'),
      mimeType: requiredOnCreate(choice(['PDF']), 'Type'),
      phones: optional(list(object({ number: required(text(), 'Number') })), 'Phones'),
      storage: readOnly(object({ original: readOnly(text(), 'Link') }), 'Links'),
      file: inputOnly(object({ content: required(text(), 'Bytes') }), 'File'),
    });
    expect(rows.map(({ name, access }) => `${name}: ${access.replaceAll('\u2011', '-')}`)).toEqual([
      'id: read-only',
      'mimeType: required on create, then read-only',
      'phones: optional',
      'phones[].number: required',
      'storage: read-only',
      'storage.original: ',
      'file: required on create, never returned',
      'file.content: required',
    ]);
    expect(rows[1]?.values).toEqual(['PDF']);
  });
});
