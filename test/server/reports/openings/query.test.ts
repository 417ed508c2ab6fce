import { describe, expect, it } from 'vitest';
import { refusalOf, rowsOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import type { Practice } from '../support.ts';
import { appointment, brief, PATH, practiceWith, TUESDAY, template } from './practice.ts';

const service = sharedService(() => []);

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
  let practice: Promise<Practice> | undefined;

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
    practice ??= practiceWith(service, ...lines());
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
    const practice = await practiceWith(service);
    expect(refusalOf(await practice.get(PATH, filter))).toEqual({ status: 400, errors });
  });

  it('is none with 92 days', async () => {
    const practice = await practiceWith(service, template('08:00', '09:00'));
    const called = await practice.get(PATH, 'location.id==5,startDate==2026-01-01,endDate==2026-04-02');
    expect(rowsOf(called)).toHaveLength(13);
  });

  it('is none at the end of the calendar, nor with a location that nobody has', async () => {
    const practice = await practiceWith(service, template('08:00', '24:00', { dayOfWeek: 'FRIDAY' }));
    expect((await practice.get(PATH, 'location.id==5,startDate==9999-12-25,endDate==9999-12-31')).status).toBe(200);
    const nowhere = await practice.get(PATH, 'location.id==99,startDate==2026-03-10,endDate==2026-03-10');
    expect(nowhere.body).toEqual({ data: [], warnings: [], errors: [] });
  });
});
