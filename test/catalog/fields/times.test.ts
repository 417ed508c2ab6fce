import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  date,
  dateTime,
  isDate,
  isTimeZone,
  timeOfDay,
  timeZone,
  writtenWall,
} from '../../../src/catalog/fields/times.ts';
import { readWith } from './reading.ts';

describe('dates', () => {
  it('are those of the calendar (property)', () => {
    const two = fc.integer({ min: 0, max: 33 }).map((number) => String(number).padStart(2, '0'));
    const year = fc.integer({ min: 1000, max: 9999 });
    fc.assert(
      fc.property(year, two, two, (y, m, d) => {
        const value = `${y}-${m}-${d}`;
        const at = new Date(`${value}T00:00:00Z`).getTime();
        expect(isDate(value)).toBe(!Number.isNaN(at) && new Date(at).toISOString().startsWith(value));
      }),
    );
  });

  it.each([
    '2026-03-02',
    '2024-02-29',
    '2000-02-29',
    '2026-12-31',
    '2026-01-01',
    '2026-04-30',
    '0001-01-01',
    '9999-12-31',
  ])('%s exists', (text) => {
    expect(isDate(text)).toBe(true);
    expect(readWith(date(), ` ${text} `)).toMatchObject({ value: text, problems: [] });
  });

  it.each([
    '2026-02-29',
    '1900-02-29',
    '2100-02-29',
    '2026-04-31',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2026-01-32',
    '0000-01-01',
    '2026-1-1',
    '26-01-01',
    '01/02/2026',
    '20260102',
    '2026-01-02T00:00:00Z',
    '',
    'today',
  ])('%j does not', (text) => {
    expect(isDate(text)).toBe(false);
    expect(readWith(date(), text)).toEqual({
      value: undefined,
      problems: ['field.format field'],
      descriptions: ['field must be a date that exists, written YYYY-MM-DD.'],
    });
  });

  it.each([20260102, true, ['2026-01-02'], {}])('a date is no %j', (input) => {
    expect(readWith(date(), input).problems).toEqual(['field.type field']);
  });
});

describe('date-times (D7)', () => {
  const sixBehind = {
    instantOf: (wall: {
      year: number;
      month: number;
      day: number;
      hour: number;
      minute: number;
      second: number;
      millisecond: number;
    }) => Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour + 6, wall.minute, wall.second, wall.millisecond),
  };

  it.each([
    ['2026-03-02T14:30:00Z', '2026-03-02T14:30:00.000Z'],
    ['2026-03-02T14:30:00.123Z', '2026-03-02T14:30:00.123Z'],
    [' 2026-03-02T14:30:00.1Z ', '2026-03-02T14:30:00.100Z'],
    ['2026-03-02T14:30:00.123999999Z', '2026-03-02T14:30:00.123Z'],
    ['2026-03-02T23:30:00-05:00', '2026-03-03T04:30:00.000Z'],
    ['2026-03-02T14:30:00', '2026-03-02T20:30:00.000Z'],
    ['2026-03-02 14:30:00.25', '2026-03-02T20:30:00.250Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999Z'],
  ])('read %j', (text, value) => {
    expect(readWith(dateTime(), text, sixBehind)).toMatchObject({ value, problems: [] });
  });

  it('without a zone stay as written on a client', () => {
    expect(readWith(dateTime(), ' 2026-03-02T14:30:00 ')).toMatchObject({ value: '2026-03-02T14:30:00', problems: [] });
  });

  it.each([
    '2026-03-02',
    '2026-02-30T00:00:00Z',
    '2026-02-30T00:00:00.000Z',
    '2026-03-02T25:00:00Z',
    '2026-03-02T14:30:00.0123456789Z',
    'now',
    '',
    '9999-12-31T23:59:59-01:00',
  ])('refuse %j', (text) => {
    expect(readWith(dateTime(), text, sixBehind)).toEqual({
      value: undefined,
      problems: ['field.format field'],
      descriptions: ['field must be an ISO 8601 date-time, such as 2026-03-02T14:30:00Z.'],
    });
  });

  it('refuse a number', () => {
    expect(readWith(dateTime(), 1772461800000).problems).toEqual(['field.type field']);
  });
});

describe('the clock of a date-time that names its offset', () => {
  it.each([
    ['2026-03-02T23:30:00-05:00', '2026-03-02T23:30:00.000Z'],
    ['2026-03-02T23:30:00+0530', '2026-03-02T23:30:00.000Z'],
    ['2026-03-02T23:30:00.1239 05:30', '2026-03-02T23:30:00.123Z'],
    ['2026-03-02T23:30-05:00', '2026-03-02T23:30:00.000Z'],
  ])('%j', (text, shown) => {
    expect(writtenWall(text)).toBe(Date.parse(shown));
  });

  it.each([
    '2026-03-02T23:30:00Z',
    '2026-03-02T23:30:00',
    '2026-03-02 23:30',
    '2026-02-30T23:30:00-05:00',
    'soon -05:00',
  ])('%j has none', (text) => {
    expect(writtenWall(text)).toBeUndefined();
  });
});

describe('times of day and zones', () => {
  it.each(['00:00', '09:30', '23:59', '24:00'])('%s is a time of day', (text) => {
    expect(readWith(timeOfDay(), text)).toMatchObject({ value: text, problems: [] });
  });

  it.each(['24:01', '9:30', '23:60', '12:00:00', 930])('%j is none', (input) => {
    expect(readWith(timeOfDay(), input).problems).toEqual(['field.format field']);
  });

  it.each(['America/Denver', 'Europe/Berlin', 'Pacific/Apia', 'UTC'])('%s is a time zone', (name) => {
    expect(isTimeZone(name)).toBe(true);
    expect(readWith(timeZone(), name)).toMatchObject({ value: name, problems: [] });
  });

  it.each(['+05:00', 'Mars/Olympus', '', 5])('%j is none', (input) => {
    expect(readWith(timeZone(), input).problems).toEqual(['field.format field']);
  });
});
