import fc from 'fast-check';
import { dayAfter, type WalkedRule } from './calendarwalk.ts';

export const DAY_NAMES = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;
const WEEK_NAMES = ['FIRST', 'SECOND', 'THIRD', 'FOURTH', 'LAST'] as const;

/** Zones with an hour, half an hour and no hour of DST, in both halves of the world; Sao Paulo gave it up in 2019, at midnight. */
export const TRIED_ZONES = [
  'America/Denver',
  'Europe/London',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
] as const;

/** Dates of 2016 to 2028. */
export const dates = fc.nat({ max: 4700 }).map((days) => dayAfter('2016-01-01', days));

/** Rules that the API takes: at most two years long; short ones are as likely as long ones. */
export const rules: fc.Arbitrary<WalkedRule> = fc
  .record({
    start: dates,
    length: fc.oneof(fc.nat({ max: 60 }), fc.nat({ max: 729 })),
    frequency: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 52 })),
    kind: fc.oneof(
      fc.subarray([...DAY_NAMES], { minLength: 1 }).map((days) => ({ type: 'WEEKLY' as const, days })),
      fc.record({
        type: fc.constant('MONTHLY' as const),
        week: fc.constantFrom(...WEEK_NAMES),
        day: fc.constantFrom(...DAY_NAMES),
      }),
    ),
  })
  .map(({ start, length, frequency, kind }) => ({ ...kind, start, end: dayAfter(start, length), frequency }));

/** Times of day, more of them at night, when clocks change. */
export const timesOfDay = fc
  .oneof(fc.integer({ min: 0, max: 180 }), fc.integer({ min: 0, max: 1439 }))
  .map((minutes) => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`);
