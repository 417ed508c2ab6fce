import { describe, expect, it } from 'vitest';
import {
  isInWeek,
  weekdayCode,
  weekdayNamed,
  weekdayOf,
  weekOfOrdinal,
} from '../../../src/core/recurrence/weekdays.ts';

describe('weekdays', () => {
  it.each([
    ['MO', 'MONDAY'],
    ['mon', 'MONDAY'],
    ['Tues', 'TUESDAY'],
    ['TH', 'THURSDAY'],
    ['thurs', 'THURSDAY'],
    ['sunday', 'SUNDAY'],
    ['S', undefined],
    ['T', undefined],
    ['', undefined],
    ['MONDAYS', undefined],
    ['XX', undefined],
  ])('%s is %s', (text, day) => {
    expect(weekdayNamed(text)).toBe(day);
  });

  it.each([
    ['2026-03-02', 'MONDAY'],
    ['2028-02-29', 'TUESDAY'],
    ['1969-12-31', 'WEDNESDAY'],
  ])('%s was a %s', (date, day) => {
    expect(weekdayOf(date)).toBe(day);
  });

  it('have two letters in RFC 5545', () => {
    expect(weekdayCode('WEDNESDAY')).toBe('WE');
  });
});

describe('weeks of a month', () => {
  it('are ordinals in RFC 5545', () => {
    expect([1, 2, 3, 4, -1].map(weekOfOrdinal)).toEqual(['FIRST', 'SECOND', 'THIRD', 'FOURTH', 'LAST']);
    expect([0, 5, -2].map(weekOfOrdinal)).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['2026-03-01', 'FIRST', true],
    ['2026-03-07', 'FIRST', true],
    ['2026-03-08', 'FIRST', false],
    ['2026-03-08', 'SECOND', true],
    ['2026-03-28', 'FOURTH', true],
    ['2026-03-29', 'FOURTH', false],
    ['2026-03-25', 'LAST', true],
    ['2026-03-24', 'LAST', false],
    ['2026-12-31', 'LAST', true],
    ['2026-02-22', 'LAST', true],
    ['2026-02-22', 'FOURTH', true],
  ] as const)('%s is in the %s week: %s', (date, week, expected) => {
    expect(isInWeek(date, week)).toBe(expected);
  });
});
