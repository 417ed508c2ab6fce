import { describe, expect, it } from 'vitest';
import { isOrganizationId, link, list, map, object, organizationLink } from '../../../src/catalog/fields/composites.ts';
import { integer } from '../../../src/catalog/fields/numbers.ts';
import { choice, text } from '../../../src/catalog/fields/text.ts';
import { optional, required } from '../../../src/catalog/record.ts';
import { readWith } from './reading.ts';

describe('links', () => {
  it.each([{ id: 7_000_000_000_114 }, { id: '7000000000114' }])('read %j', (input) => {
    expect(readWith(link('PatientV1'), input)).toMatchObject({ value: { id: 7_000_000_000_114 }, problems: [] });
  });

  it.each([
    [5, 'field.type field', 'field must be a link, written {"id": 5}.'],
    ['5', 'field.type field', 'field must be a link, written {"id": 5}.'],
    [[{ id: 5 }], 'field.type field', 'field must be a link, written {"id": 5}.'],
    [{}, 'field.type field', 'field must be a link, written {"id": 5}.'],
    [{ id: 'x' }, 'field.type field.id', 'field.id must be a positive integer.'],
    [{ id: null }, 'field.type field.id', 'field.id must be a positive integer.'],
    [{ id: 0 }, 'field.type field.id', 'field.id must be a positive integer.'],
    [{ id: 5, name: 'x' }, 'body.unknown_property field.name', 'field is a link and takes only id, not name.'],
  ])('refuse %j', (input, problem, description) => {
    expect(readWith(link('PatientV1'), input)).toEqual({
      value: undefined,
      problems: [problem],
      descriptions: [description],
    });
  });

  it.each(['0123456789abcdef01234567', 'a', 'A-b_9', 'x'.repeat(64)])('take the organization %s (D1)', (id) => {
    expect(isOrganizationId(id)).toBe(true);
    expect(readWith(organizationLink(), { id })).toMatchObject({ value: { id }, problems: [] });
  });

  it.each(['', 'x'.repeat(65), 'a b', 'a/b', 'é', 'a\n'])('refuse the organization %j', (id) => {
    expect(isOrganizationId(id)).toBe(false);
    expect(readWith(organizationLink(), { id }).problems).toHaveLength(1);
  });

  it('make links of flag text', () => {
    expect(link('Location').fromText('5')).toEqual({ id: '5' });
    expect(list(link('Location')).fromText('5')).toEqual([{ id: '5' }]);
    expect(list(text()).fromText('["a","b"]')).toEqual(['a', 'b']);
  });
});

describe('lists, objects and maps', () => {
  const phones = list(
    object({
      phoneType: required(choice(['HOME', 'WORK']), 'Kind'),
      number: required(text({ min: 1, max: 5 }), 'Number'),
      sequence: optional(integer({ min: 0 }), 'Order'),
    }),
  );

  it('read what is right', () => {
    expect(
      readWith(phones, [
        { phoneType: 'home', number: ' 1 ' },
        { phoneType: 'WORK', number: '2', sequence: null },
      ]),
    ).toMatchObject({
      value: [
        { phoneType: 'HOME', number: '1' },
        { phoneType: 'WORK', number: '2', sequence: null },
      ],
      problems: [],
    });
    expect(readWith(phones, [])).toMatchObject({ value: [], problems: [] });
  });

  it('report every problem at its place', () => {
    const read = readWith(phones, [
      { phoneType: 'HOME', number: '1' },
      { phoneType: 'CAR', number: '123456', colour: 'red' },
      { phoneType: 'HOME', sequence: -1 },
      { phoneType: 'HOME', number: null },
      'x',
      null,
    ]);
    expect(read.value).toBeUndefined();
    expect(read.problems.sort()).toEqual([
      'body.unknown_property field[1].colour',
      'field.choice field[1].phoneType',
      'field.length field[1].number',
      'field.missing field[2].number',
      'field.missing field[3].number',
      'field.range field[2].sequence',
      'field.type field[4]',
      'field.type field[5]',
    ]);
  });

  it.each([{}, 'x', 5, { 0: 'a', length: 1 }])('a list is no %j', (input) => {
    expect(readWith(phones, input).problems).toEqual(['field.type field']);
  });

  it('read maps by key (D24)', () => {
    const tags = map(link('TransactionTagV1'));
    expect(readWith(tags, { '1': { id: '3' }, '2': { id: 4 } })).toMatchObject({
      value: { '1': { id: 3 }, '2': { id: 4 } },
    });
    expect(readWith(tags, { '1': { id: 3 }, '2': 4 }).problems).toEqual(['field.type field.2']);
    expect(readWith(tags, [{ id: 3 }]).problems).toEqual(['field.type field']);
    expect(readWith(tags, { 'a\u001bb': { id: 3 } }).problems).toEqual(['field.format field.a\u001bb']);
    expect(readWith(tags, { ['x'.repeat(256)]: { id: 3 } }).problems).toEqual([
      `field.length field.${'x'.repeat(100)}…`,
    ]);
  });
});
