import { describe, expect, it } from 'vitest';
import { type Called, refusalOf, rowsOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import { type Line, location, newPractice, patient } from '../support.ts';

const service = sharedService(() => []);
const PATH = '/scheduleopenings';

/** Location 5 is in Denver, 6 in New York, 7 has the organization's zone, Denver. Operatory 51 is in location 5. */
const PLACES: readonly Line[] = [
  location(5, 'America/Denver'),
  location(6, 'America/New_York'),
  location(7),
  ...[51, 52, 61, 71].map((id) => ({ type: 'Operatory', id, location: { id: Math.floor(id / 10) } })),
  { type: 'Provider', id: 3, lastName: 'A' },
  { type: 'Provider', id: 4, lastName: 'B' },
  ...[1, 2].map((id) => ({ type: 'ScheduleTemplateReasonV1', id, reason: `R${id}`, location: { id: 5 } })),
  patient(1),
];

/** Hours of provider 3 in operatory 51 on Tuesdays; 2026-03-10 is one, Denver then is at UTC-6. */
function template(start: string, end: string, rest: Line = {}): Line {
  return {
    type: 'ScheduleTemplateV1',
    id: 1,
    location: { id: 5 },
    operatory: { id: 51 },
    provider: { id: 3 },
    dayOfWeek: 'TUESDAY',
    start,
    end,
    ...rest,
  };
}

/** `at`: hour of 2026-03-10 in Denver. */
const instant = (at: number) => new Date(Date.UTC(2026, 2, 10, 6) + at * 3_600_000).toISOString();

function appointment(at: number, duration: number, rest: Line = {}): Line {
  return {
    type: 'AppointmentV1',
    id: (at + 24) * 100,
    start: instant(at),
    duration,
    patient: { id: 1 },
    provider: { id: 3 },
    operatory: { id: 51 },
    ...rest,
  };
}

function event(at: number, duration: number, rest: Line = {}): Line {
  return { type: 'EventV1', id: at * 100, title: 'Busy', start: instant(at), duration, location: { id: 5 }, ...rest };
}

const practiceWith = (...lines: Line[]) => newPractice(service, [...PLACES, ...lines]);
const TUESDAY = 'location.id==5,startDate==2026-03-10,endDate==2026-03-10';

/** `provider/operatory day: from-to …`, in hours of 2026-03-10 in Denver. */
function brief(called: Called): string[] {
  const hour = (text: string) => (Date.parse(text) - Date.UTC(2026, 2, 10, 6)) / 3_600_000;
  return rowsOf(called).map((row) => {
    const { provider, operatory, day, slots } = row as unknown as {
      provider: { id: number };
      operatory: { id: number };
      day: string;
      slots: { start: string; end: string }[];
    };
    const times = slots.map(({ start, end }) => `${hour(start)}-${hour(end)}`);
    return `${provider.id}/${operatory.id} ${day}: ${times.join(' ')}`;
  });
}

describe('GET /scheduleopenings', () => {
  it('answers pairs, days and slots with what the block carries', async () => {
    const practice = await practiceWith(
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

  it.each<[name: string, lines: readonly Line[], expected: readonly string[]]>([
    ['no hours', [], []],
    ['hours of another weekday', [template('08:00', '12:00', { dayOfWeek: 'MONDAY' })], []],
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
      'several pairs by provider, then operatory',
      [
        template('08:00', '09:00', { provider: { id: 4 } }),
        template('08:00', '09:00', { id: 2, operatory: { id: 52 } }),
        template('08:00', '09:00', { id: 3 }),
      ],
      ['3/51 2026-03-10: 8-9', '3/52 2026-03-10: 8-9', '4/51 2026-03-10: 8-9'],
    ],
  ])('tells %s', async (_name, lines, expected) => {
    const practice = await practiceWith(...lines);
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
    const practice = await practiceWith(template('08:00', '10:00'), appointment(8, 60, { status }));
    expect(brief(await practice.get(PATH, TUESDAY))).toEqual([`3/51 2026-03-10: ${busy ? '9' : '8'}-10`]);
  });

  it('goes day by day, in the zone of the location', async () => {
    const practice = await practiceWith(
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

  it('keeps slots in the past', async () => {
    const practice = await practiceWith(template('08:00', '09:00'));
    const called = await practice.get(PATH, 'location.id==5,startDate==2020-03-10,endDate==2020-03-10');
    expect(rowsOf(called)).toMatchObject([{ day: '2020-03-10' }]);
  });

  it('follows what is booked and cancelled', async () => {
    const practice = await practiceWith(template('08:00', '10:00'), appointment(8, 60));
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
    const practice = await practiceWith(template(start, end, { dayOfWeek: 'SUNDAY' }));
    const called = await practice.get(PATH, `location.id==5,startDate==${day},endDate==${day}`);
    expect(rowsOf(called)).toMatchObject([{ slots: [{ start: `${from}:00.000Z`, end: `${to}:00.000Z` }] }]);
  });
});

describe('openings filtered', () => {
  const lines = () => [
    template('08:00', '09:00', { bookingTypes: ['TREATMENT'], reasons: [{ id: 1 }] }),
    template('10:00', '11:00', { id: 2, bookingTypes: ['RECARE', 'NEW_PATIENT'], reasons: [{ id: 1 }, { id: 2 }] }),
    template('12:00', '15:00', { id: 3, operatory: { id: 52 } }),
    template('16:00', '18:00', { id: 4, provider: { id: 4 }, bookingTypes: ['EXISTING_PATIENT'] }),
    appointment(12, 60, { operatory: { id: 52 }, provider: { id: 4 } }),
    appointment(13.25, 15, { operatory: { id: 52 }, provider: { id: 4 } }),
  ];
  const [treatment, recare, other, existing] = [
    '3/51 2026-03-10: 8-9',
    '3/51 2026-03-10: 10-11',
    '3/52 2026-03-10: 13-13.25 13.5-15',
    '4/51 2026-03-10: 16-18',
  ];
  let practice: ReturnType<typeof practiceWith> | undefined;

  it.each<[filter: string, expected: readonly string[]]>([
    ['operatory.id==52', [other]],
    ['operatory.id->[51,99]', ['3/51 2026-03-10: 8-9 10-11', existing]],
    ['provider.id==4', [existing]],
    ['provider.id->[4,3]', ['3/51 2026-03-10: 8-9 10-11', other, existing]],
    ['provider.id==3,operatory.id==51', ['3/51 2026-03-10: 8-9 10-11']],
    ['provider.id->[3,4],provider.id==4', [existing]],
    ['provider.id==99', []],
    ['booking.type==TREATMENT', [treatment]],
    ['booking.type==treatment', [treatment]],
    ['booking.type==NEW_PATIENT', [recare]],
    ['booking.type->[RECARE,EXISTING_PATIENT]', [recare, existing]],
    ['booking.type==RECARE,booking.type==NEW_PATIENT', [recare]],
    ['booking.type==RECARE,booking.type==TREATMENT', []],
    ['reason.id==2', [recare]],
    ['reason.id->[1,2]', ['3/51 2026-03-10: 8-9 10-11']],
    ['reason.id==99', []],
    ['minOpeningLength==15', ['3/51 2026-03-10: 8-9 10-11', other, existing]],
    ['minOpeningLength==16', ['3/51 2026-03-10: 8-9 10-11', '3/52 2026-03-10: 13.5-15', existing]],
    ['minOpeningLength==60', ['3/51 2026-03-10: 8-9 10-11', '3/52 2026-03-10: 13.5-15', existing]],
    ['minOpeningLength==61', ['3/52 2026-03-10: 13.5-15', existing]],
    ['minOpeningLength==120', [existing]],
    ['minOpeningLength==1440', []],
    ['minOpeningLength==61,minOpeningLength==120', [existing]],
  ])('by %s', async (filter, expected) => {
    practice ??= practiceWith(...lines());
    expect(brief(await (await practice).get(PATH, `${TUESDAY},${filter}`))).toEqual(expected);
  });
});

describe('a filter of openings that is wrong', () => {
  const DAYS = 'startDate==2026-03-10,endDate==2026-03-10';

  it.each<[name: string, filter: string, ...errors: string[]]>([
    ['missing', '', 'filter.missing filter'],
    ['without a location', DAYS, 'filter.missing location.id'],
    ['without dates', 'location.id==5', 'filter.missing startDate', 'filter.missing endDate'],
    ['without a last day', 'location.id==5,startDate==2026-03-10', 'filter.missing endDate'],
    ['with an empty location', `location.id==,${DAYS}`, 'filter.syntax location.id'],
    ['with an empty first day', 'location.id==5,startDate==,endDate==2026-03-10', 'filter.syntax startDate'],
    ['with all locations', `location.id==ALL,${DAYS}`, 'filter.value location.id'],
    ['with a list of locations', `location.id->[5],${DAYS}`, 'filter.operator location.id'],
    ['with two locations', `location.id==5,location.id==6,${DAYS}`, 'field.conflict location.id'],
    [
      'with a day that does not exist',
      'location.id==5,startDate==2026-02-30,endDate==2026-03-10',
      'filter.value startDate',
    ],
    ['with a day of another form', 'location.id==5,startDate==2026-03-10,endDate==10.03.2026', 'filter.value endDate'],
    ['with the last day first', 'location.id==5,startDate==2026-03-10,endDate==2026-03-09', 'field.conflict endDate'],
    ['with 93 days', 'location.id==5,startDate==2026-01-01,endDate==2026-04-03', 'filter.value endDate'],
    ['with too short a slot', `location.id==5,${DAYS},minOpeningLength==4`, 'filter.value minOpeningLength'],
    ['with too long a slot', `location.id==5,${DAYS},minOpeningLength==1441`, 'filter.value minOpeningLength'],
    ['with an unknown booking type', `location.id==5,${DAYS},booking.type==SURGERY`, 'filter.value booking.type'],
    ['with an operatory that is no id', `location.id==5,${DAYS},operatory.id==x`, 'filter.value operatory.id'],
    ['with a reason by !=', `location.id==5,${DAYS},reason.id!=1`, 'filter.operator reason.id'],
    ['with a key of another report', `location.id==5,${DAYS},page==1`, 'filter.key page'],
    [
      'wrong in several places',
      'startDate==2026-03-10,endDate==2026-03-09,minOpeningLength==1',
      'filter.value minOpeningLength',
      'filter.missing location.id',
      'field.conflict endDate',
    ],
  ])('is 400: %s', async (_name, filter, ...errors) => {
    const practice = await practiceWith();
    expect(refusalOf(await practice.get(PATH, filter))).toEqual({ status: 400, errors });
  });

  it('is none with 92 days', async () => {
    const practice = await practiceWith(template('08:00', '09:00'));
    const called = await practice.get(PATH, 'location.id==5,startDate==2026-01-01,endDate==2026-04-02');
    expect(rowsOf(called)).toHaveLength(13);
  });

  it('is none at the end of the calendar, nor with a location that nobody has', async () => {
    const practice = await practiceWith(template('08:00', '24:00', { dayOfWeek: 'FRIDAY' }));
    expect((await practice.get(PATH, 'location.id==5,startDate==9999-12-25,endDate==9999-12-31')).status).toBe(200);
    const nowhere = await practice.get(PATH, 'location.id==99,startDate==2026-03-10,endDate==2026-03-10');
    expect(nowhere.body).toEqual({ data: [], warnings: [], errors: [] });
  });
});
