import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { COLOURED } from '../../../src/core/output/style.ts';
import { inCalendarOrder, openingCalendar, slotsOf } from '../../../src/core/reports/openings.ts';

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

const timesIn = (zone: string) => ({ clock: new LocalClock(zone), heading: `Times in ${zone}` });

describe('openingCalendar', () => {
  it('groups by day, in the zone named', () => {
    const { text } = openingCalendar(slotsOf(items), { ...timesIn('America/Denver'), width: 80, header: true });
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

  it('has the offset where an hour comes twice', () => {
    const day = { ...items[0], day: '2026-11-01', slots: [slot('2026-11-01T07:30:00Z', '2026-11-01T08:30:00Z')] };
    const { text } = openingCalendar(slotsOf([day]), { ...timesIn('America/Denver'), width: undefined, header: false });
    expect(text.split('\n')[3]).toMatch(/^ {2}01:30 -06:00-01:30 -07:00 {3}60 /);
  });

  it.each([
    ['the midnight at its end', '2026-03-02T22:00:00.000Z', '2026-03-03T00:00:00.000Z', '22:00-24:00'],
    ['the midnight at its start', '2026-03-02T00:00:00.000Z', '2026-03-02T01:00:00.000Z', '00:00-01:00'],
    ['a time after midnight', '2026-03-02T23:00:00.000Z', '2026-03-03T00:30:00.000Z', '23:00-03-03 00:30'],
    ['a slot after midnight', '2026-03-03T23:00:00.000Z', '2026-03-04T00:00:00.000Z', '03-03 23:00-24:00'],
  ])('shows %s', (_, start, end, time) => {
    const day = { ...items[0], day: '2026-03-02', slots: [slot(start, end)] };
    const { text } = openingCalendar(slotsOf([day]), { ...timesIn('UTC'), width: undefined, header: false });
    expect(text.split('\n')[3]?.trim().startsWith(`${time}  `)).toBe(true);
  });

  it('has days that stand out and bands where there are colours', () => {
    const look = { ...timesIn('America/Denver'), width: 80, header: true };
    const { text } = openingCalendar(slotsOf(items), { ...look, style: COLOURED });
    expect(stripVTControlCharacters(text)).toBe(openingCalendar(slotsOf(items), look).text);
    expect(text).toContain('\u001b[1mMon 2026-03-02\u001b[22m: 3 openings');
    expect(text).toContain('\u001b[2m  08:00-09:30');
  });

  it('leaves out reasons rather than cut their ids', () => {
    const many = [{ ...items[0], slots: [slot('2026-03-02T15:00:00Z', '2026-03-02T16:00:00Z', [], [7e12, 8e12])] }];
    const { text, hidden } = openingCalendar(slotsOf(many), { ...timesIn('UTC'), width: 60, header: true });
    expect(hidden).toEqual(['reasons']);
    expect(text).not.toContain('…');
  });

  it('shows the date of times that fall on another day in that zone', () => {
    const { text } = openingCalendar(slotsOf(items.slice(2)), {
      ...timesIn('Asia/Tokyo'),
      width: undefined,
      header: false,
    });
    expect(text).toBe('Times in Asia/Tokyo\n\nSun 2026-03-01: 1 opening\n  03-02 00:00-00:30   30  9         22\n');
  });
});
