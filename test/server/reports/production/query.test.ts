import { describe, expect, it } from 'vitest';
import { refusalOf, rowsOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import type { Practice } from '../support.ts';
import { amounts, appointment, DAY, PATH, PRACTICE, practiceWith } from './practice.ts';

const service = sharedService(() => []);

let practice: Promise<Practice> | undefined;
const shared = () => (practice ??= practiceWith(service, ...PRACTICE));

describe.each([PATH, `${PATH}/async`])('%s', (path) => {
  it.each<[name: string, filter: string, ...errors: string[]]>([
    ['no filter', '', 'filter.missing filter'],
    ['no fromDate', 'location.id==5', 'filter.missing fromDate'],
    ['an empty fromDate', 'fromDate==', 'filter.syntax fromDate'],
    ['a fromDate of another form', 'fromDate==10.03.2026', 'filter.value fromDate'],
    ['a fromDate that does not exist', 'fromDate==2026-02-30', 'filter.value fromDate'],
    ['fromDate by >=', 'fromDate>=2026-03-10', 'filter.operator fromDate'],
    ['two fromDates', `${DAY},fromDate==2026-03-11`, 'field.conflict fromDate'],
    ['a location that is no integer', `${DAY},location.id==x`, 'filter.value location.id'],
    ['a location in parts', `${DAY},location.id==5.5`, 'filter.value location.id'],
    ['a list with ALL and an id', `${DAY},location.id->[ALL,5]`, 'filter.value location.id'],
    ['provider and patient', `${DAY},provider.id==3,patient.id==1`, 'field.conflict patient.id'],
    ['patient and appointment', `${DAY},appointment.id==3,patient.id==1`, 'field.conflict appointment.id'],
    ['provider and appointment', `${DAY},provider.id->[3],appointment.id->[1]`, 'field.conflict appointment.id'],
    [
      'all three',
      `${DAY},provider.id==3,patient.id==1,appointment.id==1`,
      'field.conflict patient.id',
      'field.conflict appointment.id',
    ],
    ['provider by !=', `${DAY},provider.id!=3`, 'filter.operator provider.id'],
    ['range 0', `${DAY},range==0`, 'filter.value range'],
    ['range 32', `${DAY},range==32`, 'filter.value range'],
    ['half a range', `${DAY},range==1.5`, 'filter.value range'],
    ['two ranges', `${DAY},range==1,range==2`, 'field.conflict range'],
    ['no IANA zone', `${DAY},timezone==Denver`, 'filter.value timezone'],
    ['an offset as zone', `${DAY},timezone=="+05:00"`, 'filter.value timezone'],
    ['a key of another report', `${DAY},operatory.id==1`, 'filter.key operatory.id'],
    [
      'several mistakes',
      'range==0,provider.id==x,patient.id==1',
      'filter.value range',
      'filter.value provider.id',
      'filter.missing fromDate',
      'field.conflict patient.id',
    ],
  ])('refuses %s', async (_name, filter, ...errors) => {
    expect(refusalOf(await (await shared()).get(path, filter))).toEqual({ status: 400, errors });
  });

  it('says that fromDate and location.id are required', async () => {
    for (const filter of ['', 'location.id==5']) {
      const called = await (await shared()).get(path, filter);
      expect(called.body.errors[0]?.description).toContain('fromDate and location.id are required');
    }
  });

  it('refuses an unknown field', async () => {
    const called = await (await shared()).get(path, 'fromDate==x', { responseFields: 'amount' });
    expect(refusalOf(called)).toEqual({
      status: 400,
      errors: expect.arrayContaining(['query.fields responseFields', 'filter.value fromDate']),
    });
  });

  it.each([
    'fromDate==2026-03-20',
    'fromDate==0001-01-01',
    'fromDate==9999-12-31,range==31',
    `${DAY},location.id==99`,
    `${DAY},appointment.id==99`,
  ])('answers 404 when nothing is scheduled: %s', async (filter) => {
    expect(refusalOf(await (await shared()).get(path, filter))).toEqual({
      status: 404,
      errors: ['record.not_found filter'],
    });
  });
});

describe('GET /locationproductionnetschedule/async', () => {
  const many = () =>
    practiceWith(
      service,
      ...Array.from({ length: 23 }, (_, n) =>
        appointment(100 - n, `2026-03-10T${String((n % 12) + 7).padStart(2, '0')}:${n < 12 ? '00' : '30'}:00Z`, n + 1),
      ),
    );

  it('answers the first ten of the same report, whatever pageSize says', async () => {
    const own = await many();
    const whole = rowsOf(await own.get(PATH, DAY));
    expect(whole).toHaveLength(23);
    for (const query of [{}, { pageSize: 10 }, { pageSize: 500 }]) {
      const called = await own.get(`${PATH}/async`, DAY, query);
      expect(rowsOf(called)).toEqual(whole.slice(0, 10));
      expect(called.body.meta).toBeUndefined();
    }
    expect(rowsOf(await own.get(`${PATH}/async`, DAY, { pageSize: 3 }))).toEqual(whole.slice(0, 3));
    expect(rowsOf(await own.get(`${PATH}/async`, DAY, { page: 3 }))).toEqual(whole.slice(20));
  });

  it('goes by ids with lastId (D15)', async () => {
    const own = await many();
    const read = async (lastId: number) => amounts(await own.get(`${PATH}/async`, DAY, { lastId, pageSize: 3 }));
    // Appointment 100 - n has the amount of n + 1 dollars.
    expect(await read(0)).toEqual([2300, 2200, 2100]);
    expect(await read(80)).toEqual([2000, 1900, 1800]);
    expect(await read(98)).toEqual([200, 100]);
    expect(await read(100)).toEqual([]);
  });

  it('refuses location.id!= and sizes that are none', async () => {
    const own = await shared();
    expect(refusalOf(await own.get(`${PATH}/async`, `${DAY},location.id!=5`))).toEqual({
      status: 400,
      errors: ['filter.operator location.id'],
    });
    expect(refusalOf(await own.get(`${PATH}/async`, DAY, { pageSize: 0 }))).toEqual({
      status: 400,
      errors: ['query.page_size pageSize'],
    });
  });
});
