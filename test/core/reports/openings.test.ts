import { describe, expect, it } from 'vitest';
import { inCalendarOrder, slotsOf } from '../../../src/core/reports/openingslots.ts';
import { openingCalendar } from '../../../src/core/reports/openingtext.ts';

const slot = (start: string, end: string, types: string[] = [], reasons: number[] = []) => ({
  start,
  end,
  scheduleTemplateBookingType: types.map((id) => ({ id })),
  scheduleTemplateReason: reasons.map((id) => ({ id })),
});

const items = [
  {
    provider: { id: 11 },
    operatory: { id: 21 },
    day: '2026-03-02',
    slots: [
      slot('2026-03-02T15:00:00.000Z', '2026-03-02T16:30:00.000Z', ['TREATMENT', 'RECARE'], [5, 6]),
      slot('2026-03-03T06:30:00.000Z', '2026-03-03T07:15:00.000Z'),
    ],
  },
  {
    provider: { id: 9 },
    operatory: { id: 22 },
    day: '2026-03-02',
    slots: [slot('2026-03-02T15:00:00.000Z', '2026-03-02T16:30:00.000Z')],
  },
  {
    provider: { id: 9 },
    operatory: { id: 22 },
    day: '2026-03-01',
    slots: [slot('2026-03-01T15:00:00.000Z', '2026-03-01T15:30:00.000Z')],
  },
];

describe('slotsOf', () => {
  it('makes one row a slot', () => {
    expect(slotsOf(items)).toHaveLength(4);
    expect(slotsOf(items)[0]).toEqual({
      day: '2026-03-02',
      provider: { id: 11 },
      operatory: { id: 21 },
      start: '2026-03-02T15:00:00.000Z',
      end: '2026-03-02T16:30:00.000Z',
      minutes: 90,
      bookingTypes: ['TREATMENT', 'RECARE'],
      reasons: [5, 6],
    });
  });

  it('lives with what is missing', () => {
    expect(slotsOf([{ day: '2026-03-02', slots: null }])).toEqual([]);
    expect(slotsOf([{ day: '2026-03-02', slots: [{ start: 'soon', end: 'later' }] }])).toMatchObject([
      { minutes: null, bookingTypes: [], reasons: [] },
    ]);
  });

  it('sort as a calendar does, ids by their numbers', () => {
    const ordered = inCalendarOrder(slotsOf(items)).map(({ day, provider }) => [day, provider]);
    expect(ordered).toEqual([
      ['2026-03-01', { id: 9 }],
      ['2026-03-02', { id: 9 }],
      ['2026-03-02', { id: 11 }],
      ['2026-03-02', { id: 11 }],
    ]);
  });
});

describe('openingCalendar', () => {
  it('groups by day, in the zone named', () => {
    const { text } = openingCalendar(slotsOf(items), { zone: 'America/Denver', width: 80, header: true });
    expect(text).toBe(
      [
        'Times in America/Denver',
        '  time               min  provider  operatory  booking types      reasons',
        '  ─────────────────  ───  ────────  ─────────  ─────────────────  ───────',
        '',
        'Sun 2026-03-01: 1 opening',
        '  08:00-08:30         30  9         22',
        '',
        'Mon 2026-03-02: 3 openings',
        '  08:00-09:30         90  9         22',
        '  08:00-09:30         90  11        21         TREATMENT, RECARE  5, 6',
        '  23:30-03-03 00:15   45  11        21',
        '',
      ].join('\n'),
    );
  });

  it('shows the date of times that fall on another day in that zone', () => {
    const { text } = openingCalendar(slotsOf(items.slice(2)), { zone: 'Asia/Tokyo', width: undefined, header: false });
    expect(text).toBe('Times in Asia/Tokyo\n\nSun 2026-03-01: 1 opening\n  03-02 00:00-00:30   30  9         22\n');
  });
});
