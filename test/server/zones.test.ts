import { describe, expect, it } from 'vitest';
import { instantIn, localDate } from '../../src/server/zones.ts';

function at(zone: string, wall: string): string {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = wall.split(/\D/).map(Number);
  return new Date(instantIn(zone)({ year, month, day, hour, minute, second, millisecond: 0 }))
    .toISOString()
    .slice(0, 16);
}

describe('instantIn (D7, D39)', () => {
  it.each([
    ['UTC', '2026-03-08 02:30', '2026-03-08T02:30'],
    ['America/New_York', '2026-01-15 09:00', '2026-01-15T14:00'],
    ['America/New_York', '2026-07-15 09:00', '2026-07-15T13:00'],
    ['Asia/Kolkata', '2026-01-01 00:00', '2025-12-31T18:30'],
    ['Pacific/Kiritimati', '2026-01-01 00:00', '2025-12-31T10:00'],
    ['Asia/Kathmandu', '2026-01-01 05:45', '2026-01-01T00:00'],
  ])('%s %s', (zone, wall, utc) => {
    expect(at(zone, wall)).toBe(utc);
  });

  it.each([
    // 02:00 EST becomes 03:00 EDT: 02:30 is 03:30 EDT.
    ['America/New_York', '2026-03-08 01:59', '2026-03-08T06:59'],
    ['America/New_York', '2026-03-08 02:00', '2026-03-08T07:00'],
    ['America/New_York', '2026-03-08 02:30', '2026-03-08T07:30'],
    ['America/New_York', '2026-03-08 03:00', '2026-03-08T07:00'],
    ['Europe/Berlin', '2026-03-29 02:15', '2026-03-29T01:15'],
    // The clock goes forward at midnight, so the day has none.
    ['America/Havana', '2026-03-08 00:30', '2026-03-08T05:30'],
    ['America/Sao_Paulo', '2018-11-04 00:00', '2018-11-04T03:00'],
    // Half an hour: 02:00 +10:30 becomes 02:30 +11.
    ['Australia/Lord_Howe', '2026-10-04 02:10', '2026-10-03T15:40'],
    // Samoa had no 30 December 2011.
    ['Pacific/Apia', '2011-12-30 12:00', '2011-12-30T22:00'],
  ])('moves a skipped time forward by the gap: %s %s', (zone, wall, utc) => {
    expect(at(zone, wall)).toBe(utc);
  });

  it.each([
    // 02:00 EDT becomes 01:00 EST: the first 01:30 is EDT.
    ['America/New_York', '2026-11-01 00:59', '2026-11-01T04:59'],
    ['America/New_York', '2026-11-01 01:00', '2026-11-01T05:00'],
    ['America/New_York', '2026-11-01 01:30', '2026-11-01T05:30'],
    ['America/New_York', '2026-11-01 02:00', '2026-11-01T07:00'],
    ['Europe/London', '2026-10-25 01:30', '2026-10-25T00:30'],
    ['Australia/Lord_Howe', '2026-04-05 01:45', '2026-04-04T14:45'],
    ['America/Havana', '2026-11-01 00:30', '2026-11-01T04:30'],
  ])('takes the first of a doubled time: %s %s', (zone, wall, utc) => {
    expect(at(zone, wall)).toBe(utc);
  });
});

describe('localDate', () => {
  it.each([
    ['2026-01-15T04:59:59.999Z', 'America/New_York', '2026-01-14'],
    ['2026-01-15T05:00:00.000Z', 'America/New_York', '2026-01-15'],
    ['2026-07-15T03:59:59.999Z', 'America/New_York', '2026-07-14'],
    ['2026-01-14T11:00:00.000Z', 'Pacific/Auckland', '2026-01-15'],
    ['0999-12-31T23:30:00.000Z', 'UTC', '0999-12-31'],
  ])('%s in %s is %s', (instant, zone, date) => {
    expect(localDate(instant, zone)).toBe(date);
  });
});
