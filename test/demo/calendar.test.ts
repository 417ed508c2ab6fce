import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import {
  dateText,
  dayOf,
  holidaysBetween,
  instantText,
  timeText,
  weekdayOf,
  yearOf,
  zoneClock,
} from '../../src/demo/calendar.ts';

const day = fc.integer({ min: dayOf('1900-01-01'), max: dayOf('2100-12-31') });

describe('calendar', () => {
  it('writes dates and instants as Date does', () => {
    fc.assert(
      fc.property(day, fc.integer({ min: 0, max: 86_399_999 }), (days, rest) => {
        const iso = new Date(days * 86_400_000 + rest).toISOString();
        expect(dateText(days)).toBe(iso.slice(0, 10));
        expect(instantText(days * 86_400_000 + rest)).toBe(iso);
      }),
    );
  });

  it('reads back what it writes, with its weekday and year', () => {
    fc.assert(
      fc.property(day, (days) => {
        expect(dayOf(dateText(days))).toBe(days);
        const date = DateTime.fromISO(dateText(days), { zone: 'utc' });
        expect([weekdayOf(days), yearOf(days)]).toEqual([date.weekday % 7, date.year]);
      }),
    );
  });

  it('writes times of day', () => {
    expect([0, 65, 780, 1_439].map(timeText)).toEqual(['00:00', '01:05', '13:00', '23:59']);
  });

  it.each(['America/Denver', 'America/New_York', 'America/Phoenix', 'Pacific/Honolulu'])(
    'keeps the clock of %s',
    (zone) => {
      const clock = zoneClock(zone);
      fc.assert(
        fc.property(
          fc.integer({ min: dayOf('2023-01-01'), max: dayOf('2027-12-31') }),
          fc.integer({ min: 180, max: 1_439 }),
          (days, minutes) => {
            const midnight = DateTime.fromISO(dateText(days), { zone });
            const local = midnight.set({ hour: Math.floor(minutes / 60), minute: minutes % 60 });
            expect(clock.at(days, minutes)).toBe(local.toMillis());
            expect(clock.midnight(days)).toBe(midnight.toMillis());
          },
        ),
        { numRuns: 60 },
      );
    },
  );

  it.each([
    [
      '2025',
      ['2025-01-01', '2025-05-26', '2025-07-04', '2025-09-01', '2025-11-27', '2025-11-28', '2025-12-24', '2025-12-25'],
    ],
    [
      '2026',
      ['2026-01-01', '2026-05-25', '2026-07-04', '2026-09-07', '2026-11-26', '2026-11-27', '2026-12-24', '2026-12-25'],
    ],
  ])('knows the holidays of %s', (year, dates) => {
    const found = holidaysBetween(dayOf(`${year}-01-01`), dayOf(`${year}-12-31`));
    expect(found.map((holiday) => dateText(holiday.day))).toEqual(dates);
  });
});
