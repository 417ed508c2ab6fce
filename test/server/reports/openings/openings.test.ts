import { describe, expect, it } from 'vitest';
import { entriesOf } from '../../../contract/trail.ts';
import { rowsOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import type { Line } from '../support.ts';
import { appointment, brief, event, instant, PATH, practiceWith, TUESDAY, template } from './practice.ts';

const service = sharedService(() => []);

describe('GET /scheduleopenings', () => {
  const busy = { provider: { id: 4 }, operatory: { id: 52 } };
  it.each<[string, readonly Line[], number]>([
    ['one', [template('08:00', '12:00')], 1],
    [
      'one, beside a pair that is taken',
      [template('08:00', '12:00'), template('08:00', '09:00', { id: 2, ...busy })],
      1,
    ],
    ['none', [template('08:00', '12:00', { dayOfWeek: 'SUNDAY' })], 0],
  ])('is told of by its number, and of nobody: %s', async (_name, lines, count) => {
    const practice = await practiceWith(service, ...lines, appointment(8, 60, busy));
    const found = await entriesOf(service, async () => {
      expect(rowsOf(await practice.get(PATH, TUESDAY))).toHaveLength(count);
    });
    expect(found).toMatchObject([{ operation: 'scheduleopenings.list', record_count: count, ids: [], patients: [] }]);
  });

  it('answers pairs, days and slots with what the block carries', async () => {
    const practice = await practiceWith(
      service,
      template('08:00', '12:00', { bookingTypes: ['TREATMENT', 'RECARE'], reasons: [{ id: 2 }, { id: 1 }] }),
      template('13:00', '17:00', { id: 2 }),
      appointment(9, 30),
    );
    const slot = (start: string, end: string, types: string[], reasons: number[]) => ({
      start: `2026-03-10T${start}:00.000Z`,
      end: `2026-03-10T${end}:00.000Z`,
      scheduleTemplateBookingType: types.map((id) => ({ id })),
      scheduleTemplateReason: reasons.map((id) => ({ id })),
    });
    const called = await practice.get(PATH, TUESDAY);
    expect(called.body).toEqual({
      data: [
        {
          provider: { id: 3 },
          operatory: { id: 51 },
          day: '2026-03-10',
          slots: [
            slot('14:00', '15:00', ['TREATMENT', 'RECARE'], [2, 1]),
            slot('15:30', '18:00', ['TREATMENT', 'RECARE'], [2, 1]),
            slot('19:00', '23:00', [], []),
          ],
        },
      ],
      warnings: [],
      errors: [],
    });
  });

  it('tells hours that are the same by the ids of their templates', async () => {
    const practice = await practiceWith(
      service,
      template('08:00', '09:00', { id: 2, bookingTypes: ['RECARE'] }),
      template('08:00', '09:00', { id: 3, bookingTypes: ['NEW_PATIENT'] }),
      template('08:00', '09:00', { id: 1, bookingTypes: ['TREATMENT'] }),
    );
    const type = (id: string) => ({ scheduleTemplateBookingType: [{ id }] });
    expect(rowsOf(await practice.get(PATH, TUESDAY))).toMatchObject([
      { slots: [type('TREATMENT'), type('RECARE'), type('NEW_PATIENT')] },
    ]);
  });

  it.each<[name: string, lines: readonly Line[], expected: readonly string[]]>([
    ['no hours', [], []],
    ['hours of another weekday', [template('08:00', '12:00', { dayOfWeek: 'MONDAY' })], []],
    ['hours of the next weekday', [template('08:00', '12:00', { dayOfWeek: 'WEDNESDAY' })], []],
    [
      'hours by their start, then by their end',
      [template('13:00', '17:00'), template('08:00', '12:00', { id: 2 }), template('08:00', '10:00', { id: 3 })],
      ['3/51 2026-03-10: 8-10 8-12 13-17'],
    ],
    ['hours of another location', [template('08:00', '12:00', { location: { id: 7 } })], []],
    ['hours to the end of the day', [template('22:00', '24:00')], ['3/51 2026-03-10: 22-24']],
    ['a whole day', [template('00:00', '24:00')], ['3/51 2026-03-10: 0-24']],
    ['hours that end before they start', [template('12:00', '08:00')], []],
    ['hours of no length', [template('12:00', '12:00')], []],
    ['hours from this day on', [template('08:00', '12:00', { validFrom: '2026-03-10' })], ['3/51 2026-03-10: 8-12']],
    ['hours from the next day on', [template('08:00', '12:00', { validFrom: '2026-03-11' })], []],
    ['hours up to this day', [template('08:00', '12:00', { validTo: '2026-03-10' })], ['3/51 2026-03-10: 8-12']],
    ['hours up to the day before', [template('08:00', '12:00', { validTo: '2026-03-09' })], []],
    [
      'overlapping hours: each its own slots',
      [template('08:00', '12:00'), template('10:00', '13:00', { id: 2 }), appointment(11, 30)],
      ['3/51 2026-03-10: 8-11 11.5-12 10-11 11.5-13'],
    ],
    [
      'hours that touch: slots of their own',
      [template('08:00', '10:00'), template('10:00', '12:00', { id: 2 })],
      ['3/51 2026-03-10: 8-10 10-12'],
    ],
    ['an appointment over it all', [template('08:00', '12:00'), appointment(7, 600)], []],
    [
      'an appointment from the day before',
      [template('00:00', '03:00'), appointment(-1, 120)],
      ['3/51 2026-03-10: 1-3'],
    ],
    [
      'an appointment late on the last day',
      [template('20:00', '24:00'), appointment(21, 60)],
      ['3/51 2026-03-10: 20-21 22-24'],
    ],
    [
      'an appointment into the next day',
      [template('20:00', '24:00'), appointment(23.5, 60)],
      ['3/51 2026-03-10: 20-23.5'],
    ],
    ['an appointment of 24 hours', [template('00:00', '24:00'), appointment(-23, 1440)], ['3/51 2026-03-10: 1-24']],
    [
      'an appointment that ends where they start',
      [template('08:00', '10:00'), appointment(7, 60)],
      ['3/51 2026-03-10: 8-10'],
    ],
    [
      'an appointment of the provider elsewhere',
      [template('08:00', '12:00'), appointment(8, 60, { operatory: { id: 61 } })],
      ['3/51 2026-03-10: 9-12'],
    ],
    [
      'an appointment of another provider in the operatory',
      [template('08:00', '12:00'), appointment(8, 60, { provider: { id: 4 } })],
      ['3/51 2026-03-10: 9-12'],
    ],
    [
      'an appointment of others elsewhere',
      [template('08:00', '12:00'), appointment(8, 60, { provider: { id: 4 }, operatory: { id: 52 } })],
      ['3/51 2026-03-10: 8-12'],
    ],
    ['an event of the location', [template('08:00', '12:00'), event(8, 60)], ['3/51 2026-03-10: 9-12']],
    [
      'an event of another location',
      [template('08:00', '12:00'), event(8, 60, { location: { id: 6 } })],
      ['3/51 2026-03-10: 8-12'],
    ],
    [
      'an event of the operatory',
      [template('08:00', '12:00'), event(8, 60, { operatory: { id: 51 } })],
      ['3/51 2026-03-10: 9-12'],
    ],
    [
      'an event of another operatory',
      [template('08:00', '12:00'), event(8, 60, { operatory: { id: 52 } })],
      ['3/51 2026-03-10: 8-12'],
    ],
    [
      'an event of the provider',
      [template('08:00', '12:00'), event(8, 60, { provider: { id: 3 } })],
      ['3/51 2026-03-10: 9-12'],
    ],
    [
      'an event of the provider at another location',
      [template('08:00', '12:00'), event(8, 60, { provider: { id: 3 }, location: { id: 6 } })],
      ['3/51 2026-03-10: 9-12'],
    ],
    [
      'an event of another provider',
      [template('08:00', '12:00'), event(8, 60, { provider: { id: 4 } })],
      ['3/51 2026-03-10: 8-12'],
    ],
    [
      'an event of the operatory with another provider',
      [template('08:00', '12:00'), event(8, 60, { provider: { id: 4 }, operatory: { id: 51 } })],
      ['3/51 2026-03-10: 9-12'],
    ],
    [
      'an event of the provider in another operatory',
      [template('08:00', '12:00'), event(8, 60, { provider: { id: 3 }, operatory: { id: 52 } })],
      ['3/51 2026-03-10: 9-12'],
    ],
    [
      'what takes one pair and not the other',
      [
        template('08:00', '12:00'),
        template('08:00', '12:00', { id: 2, provider: { id: 4 }, operatory: { id: 52 } }),
        appointment(8, 60),
        event(9, 60, { operatory: { id: 52 } }),
        event(10, 60, { provider: { id: 4 } }),
      ],
      ['3/51 2026-03-10: 9-12', '4/52 2026-03-10: 8-9 11-12'],
    ],
    [
      'several pairs by provider, then operatory',
      [
        template('08:00', '09:00', { provider: { id: 4 } }),
        template('08:00', '09:00', { id: 2, operatory: { id: 52 } }),
        template('08:00', '09:00', { id: 3 }),
      ],
      ['3/51 2026-03-10: 8-9', '3/52 2026-03-10: 8-9', '4/51 2026-03-10: 8-9'],
    ],
  ])('tells %s', async (_name, lines, expected) => {
    const practice = await practiceWith(service, ...lines);
    expect(brief(await practice.get(PATH, TUESDAY))).toEqual(expected);
  });

  it.each<[status: string, busy: boolean]>([
    ...(['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'] as const).map((status): [string, boolean] => [status, false]),
    ...(
      [
        'LATE',
        'HERE',
        'READY',
        'CHAIR',
        'COMPLETED',
        'CONFIRMED',
        'UNCONFIRMED',
        'LEFT_MESSAGE',
        'CHECKOUT',
        'WILL_CALL',
        'UNREACHABLE',
      ] as const
    ).map((status): [string, boolean] => [status, true]),
  ])('counts a %s appointment as busy: %s', async (status, busy) => {
    const practice = await practiceWith(service, template('08:00', '10:00'), appointment(8, 60, { status }));
    expect(brief(await practice.get(PATH, TUESDAY))).toEqual([`3/51 2026-03-10: ${busy ? '9' : '8'}-10`]);
  });

  it('goes day by day, in the zone of the location', async () => {
    const practice = await practiceWith(
      service,
      template('08:00', '09:00'),
      template('08:00', '09:00', { id: 2, dayOfWeek: 'WEDNESDAY', provider: { id: 4 } }),
      template('23:00', '24:00', { id: 3, location: { id: 6 }, operatory: { id: 61 } }),
      template('08:00', '09:00', { id: 4, location: { id: 7 }, operatory: { id: 71 } }),
    );
    const read = (place: number, from: string, to: string) =>
      practice.get(PATH, `location.id==${place},startDate==${from},endDate==${to}`);
    expect(brief(await read(5, '2026-03-09', '2026-03-18'))).toEqual([
      '3/51 2026-03-10: 8-9',
      '4/51 2026-03-11: 32-33',
      '3/51 2026-03-17: 176-177',
      '4/51 2026-03-18: 200-201',
    ]);
    expect(brief(await read(6, '2026-03-10', '2026-03-10'))).toEqual(['3/61 2026-03-10: 21-22']);
    expect(brief(await read(7, '2026-03-10', '2026-03-10'))).toEqual(['3/71 2026-03-10: 8-9']);
  });

  it('counts what began a day before, where a day begins while it is yesterday in UTC', async () => {
    // Midnight of Kiritimati is 10:00 UTC of the day before, which is 4:00 in Denver.
    const there = { location: { id: 8 }, operatory: { id: 81 } };
    const midnight = -20;
    const practice = await practiceWith(
      service,
      template('00:00', '02:00', there),
      appointment(midnight - 23.5, 1440, { id: 1, operatory: { id: 81 } }),
      appointment(midnight - 24, 1440, { id: 2, operatory: { id: 81 }, provider: { id: 4 } }),
    );
    const called = await practice.get(PATH, 'location.id==8,startDate==2026-03-10,endDate==2026-03-10');
    expect(brief(called)).toEqual([`3/81 2026-03-10: ${midnight + 0.5}-${midnight + 2}`]);
  });

  it('keeps slots in the past', async () => {
    const practice = await practiceWith(service, template('08:00', '09:00'));
    const called = await practice.get(PATH, 'location.id==5,startDate==2020-03-10,endDate==2020-03-10');
    expect(rowsOf(called)).toMatchObject([{ day: '2020-03-10' }]);
  });

  it('follows what is booked and cancelled', async () => {
    const practice = await practiceWith(service, template('08:00', '10:00'), appointment(8, 60));
    const read = async () => brief(await practice.get(PATH, TUESDAY));
    expect(await read()).toEqual(['3/51 2026-03-10: 9-10']);
    await practice.call('PUT', '/appointments/3200', { body: { status: 'NO_SHOW' } });
    expect(await read()).toEqual(['3/51 2026-03-10: 8-10']);
    await practice.call('POST', '/events', { body: { title: 'Closed', start: instant(9), location: { id: 5 } } });
    expect(await read()).toEqual(['3/51 2026-03-10: 8-9']);
    await practice.import([{ type: 'ScheduleTemplateV1', id: 1, deleted: true }]);
    expect(await read()).toEqual([]);
  });

  it.each<[name: string, day: string, start: string, end: string, from: string, to: string]>([
    ['across the skipped hour', '2026-03-08', '01:00', '04:00', '2026-03-08T08:00', '2026-03-08T10:00'],
    ['from inside the skipped hour', '2026-03-08', '02:30', '04:00', '2026-03-08T09:30', '2026-03-08T10:00'],
    ['a whole day of 23 hours', '2026-03-08', '00:00', '24:00', '2026-03-08T07:00', '2026-03-09T06:00'],
    ['across the repeated hour', '2026-11-01', '00:30', '03:00', '2026-11-01T06:30', '2026-11-01T10:00'],
    ['from inside the repeated hour', '2026-11-01', '01:30', '03:00', '2026-11-01T07:30', '2026-11-01T10:00'],
    ['to inside the repeated hour', '2026-11-01', '00:30', '01:30', '2026-11-01T06:30', '2026-11-01T07:30'],
    ['a whole day of 25 hours', '2026-11-01', '00:00', '24:00', '2026-11-01T06:00', '2026-11-02T07:00'],
  ])('reads hours of a day with a clock change: %s', async (_name, day, start, end, from, to) => {
    const practice = await practiceWith(service, template(start, end, { dayOfWeek: 'SUNDAY' }));
    const called = await practice.get(PATH, `location.id==5,startDate==${day},endDate==${day}`);
    expect(rowsOf(called)).toMatchObject([{ slots: [{ start: `${from}:00.000Z`, end: `${to}:00.000Z` }] }]);
  });
});
