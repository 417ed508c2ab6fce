import { describe, expect, it } from 'vitest';
import { filterKeys, key } from '../../../src/catalog/define.ts';
import { Refusal } from '../../../src/catalog/failures.ts';
import { checkFilter } from '../../../src/catalog/filter/check.ts';
import { choiceValue, dateValue, idValue, locationValue, textValue } from '../../../src/catalog/filter/values.ts';

const keys = filterKeys({
  id: key(['->'], idValue, 'Ids'),
  lastName: key(['==', '!=', '~=', '<>='], textValue, 'Last name'),
  chartNumber: key(['==', '.absent', '.present'], textValue, 'Chart number'),
  status: key(['==', '!='], choiceValue(['ACTIVE', 'NON-PATIENT']), 'Status'),
  'location.id': key(['==', '!=', '->'], locationValue, 'Location'),
  fromDate: key(['=='], dateValue, 'First day', { required: true }),
});

const withDate = (text: string) => `fromDate==2026-01-01,${text}`;

/** Key, operator and values of the checked terms after the first. */
function terms(text: string) {
  const [, ...rest] = checkFilter(withDate(text), keys);
  return rest.map((term) => ({ key: term.key.key, operator: term.operator, values: term.values, all: term.all }));
}

function problems(text: string) {
  try {
    checkFilter(text, keys);
  } catch (error) {
    if (error instanceof Refusal) return error.problems;
    throw error;
  }
  return [];
}

describe('checkFilter', () => {
  it.each([
    ['a list of ids', 'id->[7000000000114,"5"]', { key: 'id', operator: '->', values: [7_000_000_000_114, 5] }],
    [
      'a listed value in any letter case',
      'status==non-Patient',
      { key: 'status', operator: '==', values: ['NON-PATIENT'] },
    ],
    ['absent', 'chartNumber.absent', { key: 'chartNumber', operator: '.absent', values: [] }],
    ['text as NFC', 'lastName~=A\u030a', { key: 'lastName', operator: '~=', values: ['Å'] }],
  ])('reads %s', (_name, text, term) => {
    expect(terms(text)).toEqual([{ all: false, ...term }]);
  });

  it('keeps every term of one key', () => {
    expect(terms('lastName~=S,lastName!=Smith').map((term) => term.values)).toEqual([['S'], ['Smith']]);
  });

  it('lists the keys when one is unknown', () => {
    expect(problems(withDate('surname==Smith'))).toEqual([
      {
        code: 'filter.key',
        source: 'surname',
        description:
          'surname is not a filter key here. Keys: id, lastName, chartNumber, status, location.id, fromDate.',
      },
    ]);
  });

  it.each(['LastName', 'constructor', 'toString', '__proto__'])('takes no key by chance: %s', (name) => {
    expect(problems(withDate(`${name}==x`))).toMatchObject([{ code: 'filter.key', source: name }]);
  });

  it('lists the operators when one is not supported', () => {
    expect(problems(withDate('lastName>S'))).toEqual([
      {
        code: 'filter.operator',
        source: 'lastName',
        description: 'lastName does not take >. Operators: == != ~= <>=.',
      },
    ]);
    expect(problems(withDate('lastName.absent'))).toMatchObject([{ code: 'filter.operator', source: 'lastName' }]);
  });

  it.each([
    ['status==ACTIV', 'status', 'one of ACTIVE, NON-PATIENT'],
    ['id->[5,x]', 'id', 'a positive integer'],
    ['location.id==main', 'location.id', 'a location id, ALL or *'],
    ['lastName==a\0b', 'lastName', 'text'],
    [`lastName==a${'\u0301'.repeat(31)}`, 'lastName', 'text'],
  ])('says what the value of %s must be', (text, source, expected) => {
    expect(problems(withDate(text))).toEqual([
      { code: 'filter.value', source, description: `The value of ${source} must be ${expected}.` },
    ]);
  });

  it('reports every problem at once', () => {
    const found = problems('surname==x,lastName>S,status==ACTIV');
    expect(found.map(({ code, source }) => `${code} ${source}`)).toEqual([
      'filter.key surname',
      'filter.operator lastName',
      'filter.value status',
      'filter.missing fromDate',
    ]);
  });

  it('asks for a required key, also of an empty filter', () => {
    expect(problems('')).toEqual([
      { code: 'filter.missing', source: 'fromDate', description: 'The filter must have fromDate.' },
    ]);
  });
});

it('asks for a required key in the words of its endpoint', () => {
  const words = { required: true, missing: 'The filter must have fromDate: a report is of some days.' };
  const own = filterKeys({ fromDate: key(['=='], dateValue, 'First day', words) });
  expect(() => checkFilter('', own)).toThrow(words.missing);
});

describe('all locations (D12)', () => {
  it.each(['==ALL', '==all', '==*', '->[ALL]', '->["ALL"]', '->[*]', '=="*"'])(
    'location.id%s limits nothing',
    (rest) => {
      expect(terms(`location.id${rest}`)).toMatchObject([{ key: 'location.id', values: [], all: true }]);
    },
  );

  it.each([
    ['==5', '==', [5]],
    ['->[5,6]', '->', [5, 6]],
    ['!=5', '!=', [5]],
  ])('location.id%s names locations', (rest, operator, values) => {
    expect(terms(`location.id${rest}`)).toMatchObject([{ operator, values, all: false }]);
  });

  it.each([
    ['!=ALL', 'location.id!=ALL would select nothing; name the locations.'],
    ['!=*', 'location.id!=ALL would select nothing; name the locations.'],
    ['->[5,ALL]', 'location.id takes either ids or ALL, not both.'],
  ])('location.id%s is refused', (rest, description) => {
    expect(problems(withDate(`location.id${rest}`))).toEqual([
      { code: 'filter.value', source: 'location.id', description },
    ]);
  });

  it('is nothing special on keys that are no location', () => {
    expect(problems(withDate('id->[ALL]'))).toMatchObject([{ code: 'filter.value', source: 'id' }]);
    expect(terms('lastName==ALL')).toMatchObject([{ values: ['ALL'], all: false }]);
  });
});
