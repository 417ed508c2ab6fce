import { describe, expect, it } from 'vitest';
import {
  choiceValue,
  dateTimeValue,
  dateValue,
  digitsValue,
  dollarsValue,
  exactTextValue,
  type FilterValue,
  foldText,
  idValue,
  integerValue,
  tagValue,
  textValue,
  timeZoneValue,
  yesNoValue,
} from '../../../src/catalog/filter/values.ts';
import { fiveBehind } from './fivebehind.ts';

const read = (value: FilterValue, text: string) => value.read(text, '==', {});

describe('date-times of filters (D7)', () => {
  it.each([
    ['Z', '2026-03-02T14:30:00Z', '2026-03-02T14:30:00.000Z'],
    ['lower case', '2026-03-02t14:30:00z', '2026-03-02T14:30:00.000Z'],
    ['an offset east', '2026-03-02T14:30:00+02:00', '2026-03-02T12:30:00.000Z'],
    ['an offset west, without colon', '2026-03-02T14:30:00-0730', '2026-03-02T22:00:00.000Z'],
    ['an offset whose + became a space', '2026-03-02T14:30:00 02:00', '2026-03-02T12:30:00.000Z'],
    ['a space before the time', '2026-03-02 14:30:00Z', '2026-03-02T14:30:00.000Z'],
    ['a + before the time', '2026-03-02+14:30:00Z', '2026-03-02T14:30:00.000Z'],
    ['no seconds', '2026-03-02T14:30Z', '2026-03-02T14:30:00.000Z'],
    ['one fractional digit', '2026-03-02T14:30:00.5Z', '2026-03-02T14:30:00.500Z'],
    ['nine fractional digits', '2026-03-02T14:30:00.123456789Z', '2026-03-02T14:30:00.123Z'],
    ['no zone: that of the organization', '2026-03-02T14:30:00', '2026-03-02T19:30:00.000Z'],
    ['a date: its local midnight', '2026-03-02', '2026-03-02T05:00:00.000Z'],
    ['29 February of a leap year', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['the first century', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['an end of time that is later in UTC', '9999-12-31T23:59:59-05:00', '9999-12-31T23:59:59.999Z'],
  ])('read %s', (_name, text, instant) => {
    expect(dateTimeValue.read(text, '<=', fiveBehind)).toBe(instant);
  });

  it.each([
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-03-02T24:00:00Z',
    '2026-03-02T14:60:00Z',
    '2026-03-02T14:30:60Z',
    '2026-03-02T14:30:00.1234567890Z',
    '2026-03-02T14:30:00.Z',
    '2026-03-02T14:30:00+24:00',
    '2026-03-02T14:30:00+02:60',
    '2026-03-02T14Z',
    '2026-3-2T14:30:00Z',
    '20260302T143000Z',
    '02/03/2026',
    '2026-03-02Z',
    'yesterday',
    '1772461800000',
    '',
  ])('refuse %s', (text) => {
    expect(dateTimeValue.read(text, '>=', fiveBehind)).toBeUndefined();
  });

  // Records keep whole milliseconds: of .000 and .001 each bound must select what the exact comparison would.
  it.each([
    ['>=', '.0005', '.001'],
    ['>', '.0005', '.000'],
    ['<', '.0005', '.001'],
    ['<=', '.0005', '.000'],
    ['>=', '.000000001', '.001'],
    ['>', '.000000001', '.000'],
    ['<', '.000000001', '.001'],
    ['<=', '.999999999', '.999'],
    ['>=', '.001000000', '.001'],
    ['<', '.001000000', '.001'],
  ] as const)('move %s %s between milliseconds to %s', (operator, fraction, bound) => {
    const read = dateTimeValue.read(`2026-03-02T14:30:00${fraction}Z`, operator, {});
    expect(read).toBe(`2026-03-02T14:30:00${bound}Z`);
  });

  it('carry into the next second', () => {
    expect(dateTimeValue.read('2026-12-31T23:59:59.9999Z', '>=', {})).toBe('2027-01-01T00:00:00.000Z');
  });

  it('equal no record where they lie between two milliseconds', () => {
    const equal = (text: string) => dateTimeValue.read(text, '==', {});
    expect(equal('2026-03-02T14:30:00.123Z')).toBe('2026-03-02T14:30:00.123Z');
    expect(equal('2026-03-02T14:30:00.1231Z')).toBe('2026-03-02T14:30:00.1235Z');
    expect(equal('2026-03-02T14:30:00.000000001Z')).toBe('2026-03-02T14:30:00.0005Z');
  });

  it('without a zone, of a date, are those of UTC where no zone is known', () => {
    expect(dateTimeValue.read('2026-03-02', '>=', {})).toBe('2026-03-02T00:00:00.000Z');
  });

  it('without a zone stay as written where no zone is known', () => {
    expect(dateTimeValue.read('2026-03-02T14:30:00', '>=', {})).toBe('2026-03-02T14:30:00');
  });
});

describe('ids of filters (D1)', () => {
  it.each([
    ['1', 1],
    ['7000000000114', 7_000_000_000_114],
    ['99999999999999', 99_999_999_999_999],
    ['9007199254740991', 9_007_199_254_740_991],
    ['007', 7],
  ])('read %s', (text, id) => {
    expect(read(idValue, text)).toBe(id);
  });

  it.each(['0', '-1', '1.0', '1e3', '0x10', '9007199254740992', '99999999999999999999', 'five', '', '1 2', '١'])(
    'refuse %s',
    (text) => {
      expect(read(idValue, text)).toBeUndefined();
    },
  );
});

describe('other values of filters', () => {
  it.each<[name: string, value: FilterValue, text: string, canonical: unknown]>([
    ['text in NFC', textValue, 'e\u0301', 'é'],
    ['exact text in NFC, letter case kept', exactTextValue, 'E\u0301x', 'Éx'],
    ['a date', dateValue, '2024-02-29', '2024-02-29'],
    ['a date that does not exist', dateValue, '2026-02-29', undefined],
    ['a date-time where a date belongs', dateValue, '2026-02-28T00:00:00Z', undefined],
    ['a date in another order', dateValue, '28-02-2026', undefined],
    ['a listed value in any letter case (D8)', choiceValue(['Email me', 'Call me']), 'EMAIL ME', 'Email me'],
    ['a value that is not listed', choiceValue(['Email me']), 'email', undefined],
    ['a phone number by its digits (D11)', digitsValue, '(555) 555-0142', '5555550142'],
    ['a phone number without digits', digitsValue, 'none', undefined],
    ['a tag folded (D11)', tagValue, ' X-RAY ', 'x-ray'],
    ['an empty tag', tagValue, '  ', undefined],
    ['yes', yesNoValue, 'TRUE', true],
    ['no', yesNoValue, 'false', false],
    ['neither', yesNoValue, '1', undefined],
    ['a time zone', timeZoneValue, 'America/Denver', 'America/Denver'],
    ['an offset for a time zone', timeZoneValue, '+05:00', undefined],
    ['an unknown time zone', timeZoneValue, 'America/Nowhere', undefined],
    ['dollars as cents', dollarsValue, '120.50', 12_050],
    ['dollars with one decimal', dollarsValue, '0.1', 10],
    ['dollars that no number of dollars tells exactly', dollarsValue, '1.15', 115],
    ['a credit', dollarsValue, '-5', -500],
    ['twelve digits of dollars', dollarsValue, '999999999999.99', 99_999_999_999_999],
    ['too many dollars', dollarsValue, '1000000000000', undefined],
    ['a third decimal', dollarsValue, '1.005', undefined],
    ['dollars with a sign', dollarsValue, '$5', undefined],
    ['dollars without the first digit', dollarsValue, '.50', undefined],
    ['dollars without the last digit', dollarsValue, '5.', undefined],
    ['the least of a range', integerValue(1, 400), '1', 1],
    ['the most of a range', integerValue(1, 400), '400', 400],
    ['zeros in front', integerValue(1, 400), '0030', 30],
    ['less than a range', integerValue(1, 400), '0', undefined],
    ['more than a range', integerValue(1, 400), '401', undefined],
    ['what is no whole number', integerValue(1, 400), '1.5', undefined],
    ['no number', integerValue(0, 400), '', undefined],
    ['a number among others', integerValue(0, 400), '5 x', undefined],
    ['more digits than any number needs', integerValue(0, 400), '00000000000000005', undefined],
    ['16 digits', integerValue(0, Number.MAX_SAFE_INTEGER), '9007199254740991', 9_007_199_254_740_991],
    ['more than is exact', integerValue(0, Number.MAX_SAFE_INTEGER), '9007199254740992', undefined],
  ])('%s', (_name, value, text, canonical) => {
    expect(read(value, text)).toBe(canonical);
  });

  it.each([
    [integerValue(1, 400), 'a whole number from 1 to 400'],
    [integerValue(0, Number.MAX_SAFE_INTEGER), 'a whole number from 0 on'],
    [choiceValue(['A', 'B']), 'one of A, B'],
  ])('say what they must be', (value, expected) => {
    expect(value.expected).toBe(expected);
  });

  it('fold text to one form in any letter case and composition', () => {
    expect(new Set(['ÉCLAIR', 'éclair', 'e\u0301clair', 'E\u0301CLAIR'].map(foldText)).size).toBe(1);
    expect(foldText('Straße')).not.toBe(foldText('Strasze'));
  });
});
