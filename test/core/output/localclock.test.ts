import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LocalClock, minuteText, offsetText, secondText } from '../../../src/core/output/localclock.ts';
import { zoneClock } from '../../../src/server/wallclock.ts';

describe('LocalClock', () => {
  it.each([
    ['winter', 'America/Denver', '2026-11-24T15:00:00.000Z', '2026-11-24 08:00'],
    ['summer', 'America/Denver', '2026-07-24T15:00:00.000Z', '2026-07-24 09:00'],
    ['another day', 'Asia/Tokyo', '2026-11-24T15:00:00.000Z', '2026-11-25 00:00'],
    ['UTC', 'UTC', '2026-11-24T15:00:00.000Z', '2026-11-24 15:00'],
    ['half an hour', 'Asia/Kolkata', '2026-11-24T15:00:00.000Z', '2026-11-24 20:30'],
    ['an offset', 'America/Denver', '2026-11-24T08:00:00-07:00', '2026-11-24 08:00'],
    ['no seconds', 'America/Denver', '2026-11-24T15:00Z', '2026-11-24 08:00'],
    ['seven digits', 'America/Denver', '2026-11-24T15:00:59.9999999Z', '2026-11-24 08:00'],
    ['the first date of some services', 'America/Denver', '0001-01-01T12:00:00Z', '0001-01-01 05:00'],
    ['the last date of some services', 'Asia/Tokyo', '9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.9999999Z'],
    ['no zone', 'America/Denver', '2026-11-24T15:00:00', '2026-11-24T15:00:00'],
    ['a day that does not exist', 'America/Denver', '2026-02-30T15:00:00Z', '2026-02-30T15:00:00Z'],
    ['no instant', 'America/Denver', 'tomorrow', 'tomorrow'],
    ['no text', 'America/Denver', '', ''],
  ])('shows %s', (_name, zone, instant, text) => {
    expect(minuteText(instant, new LocalClock(zone))).toBe(text);
  });

  it.each([
    // The hour before, the doubled hour twice, and the hour after.
    ['America/Denver', '2026-11-01T06:59:00Z', '2026-11-01 00:59'],
    ['America/Denver', '2026-11-01T07:00:00Z', '2026-11-01 01:00 -06:00'],
    ['America/Denver', '2026-11-01T07:59:00Z', '2026-11-01 01:59 -06:00'],
    ['America/Denver', '2026-11-01T08:00:00Z', '2026-11-01 01:00 -07:00'],
    ['America/Denver', '2026-11-01T08:59:00Z', '2026-11-01 01:59 -07:00'],
    ['America/Denver', '2026-11-01T09:00:00Z', '2026-11-01 02:00'],
    // An hour that is left out is doubled nowhere.
    ['America/Denver', '2026-03-08T08:59:00Z', '2026-03-08 01:59'],
    ['America/Denver', '2026-03-08T09:00:00Z', '2026-03-08 03:00'],
    // Half an hour is doubled on Lord Howe Island.
    ['Australia/Lord_Howe', '2026-04-04T14:45:00Z', '2026-04-05 01:45 +11:00'],
    ['Australia/Lord_Howe', '2026-04-04T15:15:00Z', '2026-04-05 01:45 +10:30'],
    ['Australia/Lord_Howe', '2026-04-04T15:30:00Z', '2026-04-05 02:00'],
  ])('shows the offset only where the clocks of %s show a time twice: %s', (zone, instant, text) => {
    expect(minuteText(instant, new LocalClock(zone))).toBe(text);
  });

  it('shows seconds where there are some', () => {
    const clock = new LocalClock('America/Denver');
    expect(secondText('2026-11-24T15:00:07.999Z', clock)).toBe('2026-11-24 08:00:07');
    expect(secondText('2026-11-24T15:00:00.999Z', clock)).toBe('2026-11-24 08:00');
  });

  it.each([
    ['America/Denver', '2026-11-24T15:00:07.999Z', '2026-11-24T08:00:07-07:00'],
    ['America/Denver', '2026-07-24T03:59:59Z', '2026-07-23T21:59:59-06:00'],
    ['Asia/Kolkata', '2026-11-24T15:00:00.000Z', '2026-11-24T20:30:00+05:30'],
    ['America/St_Johns', '2026-11-24T15:00:00.000Z', '2026-11-24T11:30:00-03:30'],
    ['UTC', '2026-11-24T15:00:00+02:00', '2026-11-24T13:00:00+00:00'],
    ['UTC', 'soon', 'soon'],
  ])('writes an instant for programs, as in %s: %s', (zone, instant, text) => {
    expect(offsetText(instant, new LocalClock(zone))).toBe(text);
    const parsed = Date.parse(instant);
    if (!Number.isNaN(parsed)) expect(Date.parse(text)).toBe(Math.floor(parsed / 1000) * 1000);
  });
});

const ZONES = ['America/Denver', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia', 'UTC'];

describe('the wall clock of a zone', () => {
  it('reads and is read as that of the server', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2060, 0, 1) }),
        (zone, at) => {
          const clock = new LocalClock(zone);
          expect(clock.of(at).wall).toBe(zoneClock(zone).wallOf(at));
          const wall = new Date(at);
          const digits = {
            year: wall.getUTCFullYear(),
            month: wall.getUTCMonth() + 1,
            day: wall.getUTCDate(),
            hour: wall.getUTCHours(),
            minute: wall.getUTCMinutes(),
            second: wall.getUTCSeconds(),
            millisecond: wall.getUTCMilliseconds(),
          };
          expect(clock.instantOf(digits)).toBe(zoneClock(zone).instantOf(at));
        },
      ),
      { numRuns: 300 },
    );
  });
});
