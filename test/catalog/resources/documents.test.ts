import { describe, expect, it } from 'vitest';
import { checkFilter } from '../../../src/catalog/filter/check.ts';
import { emittedFields } from '../../../src/catalog/record.ts';
import { documentFields, documentFilters, documents, fileFields } from '../../../src/catalog/resources/documents.ts';
import { readWith } from '../fields/reading.ts';

// Written from the specification (Documents, Document, Limits, 400 conditions) and D36–D38, not from the code.

const FILTERS: Record<string, string> = {
  'ownerOrganization.id': '==',
  'ownerPatient.id': '==',
  'ownerPerioExam.id': '==',
  tags: '->',
};

const OPERATORS = ['==', '!=', '~=', '<>=', '->', '>', '>=', '<', '<=', '.absent', '.present'];

describe('document filters', () => {
  it('are those listed', () => {
    const declared = Object.values(documentFilters).map(({ key, operators }) => [key, operators.join(' ')]);
    expect(Object.fromEntries(declared)).toEqual(FILTERS);
  });

  const pairs = Object.keys(FILTERS).flatMap((key) => OPERATORS.map((operator) => [key, operator] as const));
  it.each(pairs)('%s with %s is read or refused as listed', (key, operator) => {
    const text = operator.startsWith('.') ? key + operator : operator === '->' ? `${key}->[5]` : `${key}${operator}5`;
    const read = () => checkFilter(text, documentFilters);
    if (FILTERS[key] === operator) expect(read()).toMatchObject([{ operator, key: { key } }]);
    else expect(read).toThrow(`${key} does not take ${operator}. Operators: ${FILTERS[key]}.`);
  });

  it.each(['ownerPatient.id==Ann', 'ownerPerioExam.id==x', 'ownerPatient.id==ALL'])('%s is refused', (text) => {
    expect(() => checkFilter(text, documentFilters)).toThrow('must be a positive integer');
  });

  it('take organization ids as text (D1)', () => {
    const text = 'ownerOrganization.id==0123456789abcdef01234567';
    expect(checkFilter(text, documentFilters)).toMatchObject([{ values: ['0123456789abcdef01234567'] }]);
  });

  it('take several tags, quoted or not, in any letter case (D11)', () => {
    expect(checkFilter('tags->["X-Ray, left",Perio]', documentFilters)).toMatchObject([
      { values: ['x-ray, left', 'perio'] },
    ]);
  });
});

describe('document fields', () => {
  it('come back in the order of the specification, without the content', () => {
    expect(emittedFields(documentFields)).toEqual([
      ...['id', 'name', 'mimeType', 'guidName', 'thumbNailId', 'ownerType', 'ownerOrganization', 'ownerPatient'],
      ...['ownerPerioExam', 'tags', 'userDefinedDate', 'storage', 'type'],
    ]);
  });

  it.each<[keyof typeof documentFields, string, boolean]>([
    ['id', 'readOnly', false],
    ['name', 'readWrite', true],
    ['mimeType', 'createOnly', true],
    ['guidName', 'readOnly', false],
    ['thumbNailId', 'readOnly', false],
    ['ownerType', 'readOnly', false],
    ['ownerOrganization', 'createOnly', false],
    ['ownerPatient', 'createOnly', false],
    ['ownerPerioExam', 'createOnly', false],
    ['tags', 'readWrite', false],
    ['userDefinedDate', 'createOnly', false],
    ['storage', 'readOnly', false],
    ['type', 'readOnly', false],
    ['file', 'input', true],
  ])('%s is %s', (name, access, required) => {
    expect(documentFields[name]).toMatchObject({ access, required });
  });

  it.each<[keyof typeof documentFields, unknown[], unknown[]]>([
    ['tags', [[], ['a'], ['x'.repeat(50)], [' X-Ray ']], [[''], ['x'.repeat(51)], ['  '], [5], 'a']],
    ['userDefinedDate', ['2026-03-02'], ['2026-02-30', '02/03/2026']],
    ['ownerPatient', [{ id: 1 }, { id: '7000000000114' }], [{ id: 'x' }, 1]],
    ['ownerOrganization', [{ id: '0123456789abcdef01234567' }, { id: 5 }], [{ id: 'a b' }, {}, 'x']],
  ])('%s', (name, right, wrong) => {
    for (const input of right)
      expect(readWith(documentFields[name].kind, input).problems, JSON.stringify(input)).toEqual([]);
    for (const input of wrong)
      expect(readWith(documentFields[name].kind, input).problems, JSON.stringify(input)).toHaveLength(1);
  });

  it.each<[keyof typeof fileFields, unknown[], unknown[]]>([
    ['content', ['eA=='], ['', 5]],
    ['fromX', [0, 10], [-1, 1.5]],
    ['fromY', [0, 10], [-1, 'x']],
    ['width', [1, 10], [0, -1]],
    ['height', [1, 10], [0, 0.5]],
    ['ratio', [0.01, 1, 2.5], [0, -1]],
  ])('file.%s (D38)', (name, right, wrong) => {
    for (const input of right)
      expect(readWith(fileFields[name].kind, input).problems, JSON.stringify(input)).toEqual([]);
    for (const input of wrong)
      expect(readWith(fileFields[name].kind, input).problems, JSON.stringify(input)).toHaveLength(1);
  });

  it('file needs its content', () => {
    expect(readWith(documentFields.file.kind, { fromX: 1 }).problems).toEqual(['field.missing field.content']);
    expect(readWith(documentFields.file.kind, 'eA==').problems).toEqual(['field.type field']);
  });
});

describe('document operations', () => {
  it('count by the same keys as they list (D18)', () => {
    expect(documents.operations.count?.filters).toBe(documents.operations.list?.filters);
    expect(documents.operations.count?.countNames).toEqual(['totalCount']);
  });
});
