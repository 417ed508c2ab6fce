import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Called, refusalOf, rowsOf } from '../../support/calls.ts';
import { sharedService } from '../../support/service.ts';
import { type Line, location, newPractice, type Practice, patient, wallTextIn } from './support.ts';

const service = sharedService(() => []);
const PATH = '/locationproductionnetschedule';

const ZONES = new Map([
  [5, 'America/Denver'],
  [6, 'America/New_York'],
  [7, 'Pacific/Kiritimati'],
]);
/** Location 8 has no zone: the organization's, America/Denver. Operatory n0 is in location n. */
const PLACES = [...ZONES.keys(), 8].flatMap((id) => [
  location(id, ZONES.get(id)),
  { type: 'Operatory', id: id * 10, location: { id } },
]);
const PEOPLE = [
  patient(1),
  patient(2),
  { type: 'Provider', id: 3, lastName: 'A' },
  { type: 'Provider', id: 4, lastName: 'B' },
];

function appointment(id: number, start: string, amount?: number, rest: Line = {}): Line {
  return {
    type: 'AppointmentV1',
    id,
    start,
    patient: { id: 1 },
    provider: { id: 3 },
    operatory: { id: 50 },
    ...(amount !== undefined && { production: { amount, writeOff: 0 } }),
    ...rest,
  };
}

const practiceWith = (...lines: Line[]) => newPractice(service, [...PLACES, ...PEOPLE, ...lines]);
const amounts = (called: Called) => rowsOf(called).map(({ scheduledAmount }) => scheduledAmount);
const DAY = 'fromDate==2026-03-10';

/** Appointments of 2026-03-10 in Denver (UTC-6) and elsewhere; the amount of each is its id, in cents. */
const PRACTICE: readonly Line[] = [
  appointment(1, '2026-03-10T05:59:59.999Z', 0.01),
  appointment(2, '2026-03-10T06:00:00Z', 0.02),
  appointment(4, '2026-03-11T05:59:00Z', 0.04, { provider: { id: 4 } }),
  appointment(8, '2026-03-11T06:00:00Z', 0.08, { patient: { id: 2 } }),
  appointment(16, '2026-03-10T04:30:00Z', 0.16, { operatory: { id: 60 } }),
  appointment(32, '2026-03-09T10:30:00Z', 0.32, { operatory: { id: 70 }, patient: { id: 2 } }),
  appointment(64, '2026-03-10T20:00:00Z', 0.64, { operatory: { id: 80 } }),
];
let practice: Promise<Practice> | undefined;
const shared = () => (practice ??= practiceWith(...PRACTICE));

describe('GET /locationproductionnetschedule', () => {
  it('answers an item for each scheduled appointment, by start, in cents', async () => {
    const called = await (
      await practiceWith(
        appointment(2, '2026-03-10T18:00:00Z', 120.5, { production: { amount: 120.5, writeOff: 20.25 } }),
        appointment(1, '2026-03-10T19:00:00Z', 0.29, { production: { amount: 0.29, writeOff: 0.01 } }),
        appointment(3, '2026-03-10T15:00:00Z', 10, { production: { amount: 10, writeOff: 30 } }),
        appointment(4, '2026-03-10T16:00:00Z'),
        appointment(5, '2026-03-10T17:00:00Z', 10, { production: { writeOff: 1 } }),
        appointment(6, '2026-03-10T17:00:00Z', 1.1),
      )
    ).get(PATH, DAY);
    expect(called.body).toEqual({
      data: [
        { date: '2026-03-10T15:00:00.000Z', scheduledAmount: -2000 },
        { date: '2026-03-10T16:00:00.000Z', scheduledAmount: 0 },
        { date: '2026-03-10T17:00:00.000Z', scheduledAmount: -100 },
        { date: '2026-03-10T17:00:00.000Z', scheduledAmount: 110 },
        { date: '2026-03-10T18:00:00.000Z', scheduledAmount: 10_025 },
        { date: '2026-03-10T19:00:00.000Z', scheduledAmount: 28 },
      ],
      warnings: [],
      errors: [],
    });
  });

  it.each<[name: string, filter: string, amounts: readonly number[]]>([
    ['each location’s own day when nothing else is said', DAY, [32, 16, 2, 64, 4]],
    ['one location', `${DAY},location.id==5`, [2, 4]],
    ['a location without a zone: the organization’s', `${DAY},location.id==8`, [64]],
    ['a location east of the date line', `${DAY},location.id==7`, [32]],
    ['a location list', `${DAY},location.id->[5,8]`, [2, 64, 4]],
    ['all but a location', `${DAY},location.id!=5`, [32, 16, 64]],
    ['ALL', `${DAY},location.id==ALL`, [32, 16, 2, 64, 4]],
    ['*', `${DAY},location.id==*`, [32, 16, 2, 64, 4]],
    ['a list of ALL', `${DAY},location.id->["ALL"]`, [32, 16, 2, 64, 4]],
    ['locations twice', `${DAY},location.id->[5,8],location.id!=8`, [2, 4]],
    ['one provider', `${DAY},provider.id==4`, [4]],
    ['providers', `${DAY},provider.id->[3,4],location.id==5`, [2, 4]],
    ['one patient', `${DAY},patient.id==2`, [32]],
    ['patients', `${DAY},patient.id->[1,2]`, [32, 16, 2, 64, 4]],
    ['one appointment', `${DAY},appointment.id==2`, [2]],
    ['appointments', `${DAY},appointment.id->[2,4,8]`, [2, 4]],
    ['two days', `${DAY},range==2,location.id==5`, [2, 4, 8]],
    ['31 days, the last one not yet', 'fromDate==2026-02-07,range==31', [1]],
    ['31 days, the last one too', 'fromDate==2026-02-08,range==31', [32, 16, 1, 2, 64, 4]],
    ['one zone for all locations', `${DAY},timezone==America/Denver`, [2, 64, 4]],
    ['another zone', `${DAY},timezone==UTC`, [16, 1, 2, 64]],
  ])('selects by %s', async (_name, filter, expected) => {
    expect(amounts(await (await shared()).get(PATH, filter))).toEqual(expected);
  });

  it.each(['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'])('leaves %s appointments out', async (status) => {
    const own = await practiceWith(
      appointment(1, '2026-03-10T18:00:00Z', 1, { status }),
      appointment(2, '2026-03-10T19:00:00Z', 2),
    );
    expect(amounts(await own.get(PATH, DAY))).toEqual([200]);
    expect(refusalOf(await own.get(PATH, `${DAY},appointment.id==1`))).toEqual({
      status: 404,
      errors: ['record.not_found filter'],
    });
  });

  it.each([
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
  ])('counts %s appointments', async (status) => {
    const own = await practiceWith(appointment(1, '2026-03-10T18:00:00Z', 1, { status }));
    expect(amounts(await own.get(PATH, DAY))).toEqual([100]);
  });

  it('follows appointments that are booked, moved and broken', async () => {
    const own = await practiceWith(appointment(1, '2026-03-10T18:00:00Z', 1));
    const body = { start: '2026-03-10T20:00:00Z', patient: { id: 1 }, provider: { id: 3 }, operatory: { id: 50 } };
    await own.call('POST', '/appointments', { body });
    expect(amounts(await own.get(PATH, DAY))).toEqual([100, 0]);
    await own.call('PUT', '/appointments/1', { body: { start: '2026-03-11T18:00:00Z' } });
    expect(amounts(await own.get(PATH, DAY))).toEqual([0]);
    expect(amounts(await own.get(PATH, 'fromDate==2026-03-11'))).toEqual([100]);
  });

  it('keeps to the local day when a clock change makes it shorter or longer', async () => {
    // Denver skips 02:00–03:00 on 2026-03-08 and repeats 01:00–02:00 on 2026-11-01.
    const own = await practiceWith(
      appointment(1, '2026-03-08T06:59:00Z', 1),
      appointment(2, '2026-03-08T07:00:00Z', 2),
      appointment(3, '2026-03-09T05:59:00Z', 3),
      appointment(4, '2026-03-09T06:00:00Z', 4),
      appointment(5, '2026-11-01T06:00:00Z', 5),
      appointment(6, '2026-11-02T06:59:00Z', 6),
      appointment(7, '2026-11-02T07:00:00Z', 7),
    );
    expect(amounts(await own.get(PATH, 'fromDate==2026-03-08'))).toEqual([200, 300]);
    expect(amounts(await own.get(PATH, 'fromDate==2026-11-01'))).toEqual([500, 600]);
  });

  it.each<[fields: string, names: readonly string[]]>([
    ['ALL', ['date', 'scheduledAmount']],
    ['date', ['date']],
    ['scheduledAmount', ['scheduledAmount']],
    ['scheduledAmount,date', ['date', 'scheduledAmount']],
  ])('answers responseFields=%s', async (responseFields, names) => {
    const called = await (await shared()).get(PATH, DAY, { responseFields });
    for (const row of rowsOf(called)) expect(Object.keys(row)).toEqual(names);
  });

  it('warns of the deprecated filter and ignores it', async () => {
    for (const path of [PATH, `${PATH}/async`]) {
      for (const value of ['true', 'false']) {
        const called = await (await shared()).get(path, `${DAY},location.id==5,isPrimaryWriteOff==${value}`);
        expect(amounts(called)).toEqual([2, 4]);
        expect(called.body.warnings).toEqual([
          {
            title: 'Deprecated filter',
            description: 'Filter isPrimaryWriteOff is deprecated.',
            source: 'isPrimaryWriteOff',
          },
        ]);
      }
    }
  });

  it('needs practice:read; its async form model:read (D3)', async () => {
    const scoped = async (scope: string) => {
      const own = await practiceWith(appointment(1, '2026-03-10T18:00:00Z', 1));
      const organizationId = own.organization;
      const token = `${organizationId}-${scope}`;
      await service.import([{ type: 'AccessToken', token, organizations: [organizationId], scopes: [scope] }]);
      const read = (path: string) => own.call('GET', path, { token, query: { filter: DAY } });
      return [(await read(PATH)).status, (await read(`${PATH}/async`)).status];
    };
    expect(await scoped('practice:read')).toEqual([200, 403]);
    expect(await scoped('model:read')).toEqual([403, 200]);
  });
});

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

describe('production of generated practices', () => {
  const START = Date.UTC(2026, 2, 5);
  const booked = fc.record({
    minutes: fc.oneof(
      fc.nat(9 * 1440),
      fc.constantFrom(
        ...[0, 1, 2, 3, 4, 5].flatMap((day) => [420, 360, 359, 300, 240, 1440, 600, 599].map((at) => day * 1440 + at)),
      ),
    ),
    place: fc.constantFrom(5, 6, 7, 8),
    status: fc.constantFrom('CONFIRMED', 'CONFIRMED', 'COMPLETED', 'BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'),
    amount: fc.option(fc.nat(100_000), { nil: undefined }),
    writeOff: fc.nat(20_000),
    provider: fc.constantFrom(3, 4),
  });
  const asked = fc.record({
    booked: fc.array(booked, { maxLength: 25 }),
    day: fc.nat(8),
    range: fc.integer({ min: 1, max: 4 }),
    zone: fc.constantFrom(undefined, undefined, 'UTC', 'Asia/Kathmandu', 'America/Denver'),
    place: fc.constantFrom(undefined, '==5', '!=6', '->[5,7]', '==*'),
    provider: fc.constantFrom(undefined, 3),
  });

  it('is what a walk over all appointments says', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ booked: drafts, day, range, zone, place, provider }) => {
        const lines = drafts.map((draft, n) =>
          appointment(n + 1, new Date(START + draft.minutes * 60_000).toISOString(), undefined, {
            operatory: { id: draft.place * 10 },
            provider: { id: draft.provider },
            status: draft.status,
            ...(draft.amount !== undefined && {
              production: { amount: draft.amount / 100, writeOff: draft.writeOff / 100 },
            }),
          }),
        );
        const own = await practiceWith(...lines);
        const dates = Array.from({ length: range }, (_, n) =>
          new Date(START + (day + n) * 86_400_000).toISOString().slice(0, 10),
        );
        const expected = drafts
          .map((draft, n) => ({ ...draft, n, at: START + draft.minutes * 60_000 }))
          .filter(({ status }) => !['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'].includes(status))
          .filter((draft) => provider === undefined || draft.provider === provider)
          .filter(
            (draft) =>
              place === undefined ||
              place === '==*' ||
              (place === '!=6' ? draft.place !== 6 : place.includes(String(draft.place))),
          )
          .filter(({ at, place: where }) =>
            dates.includes(wallTextIn(zone ?? ZONES.get(where) ?? 'America/Denver')(at).slice(0, 10)),
          )
          .sort((a, b) => a.at - b.at || a.n - b.n)
          .map(({ at, amount, writeOff }) => ({
            date: new Date(at).toISOString(),
            scheduledAmount: amount === undefined ? 0 : amount - writeOff,
          }));
        const filter = [
          `fromDate==${dates[0]}`,
          `range==${range}`,
          ...(zone === undefined ? [] : [`timezone==${zone}`]),
          ...(place === undefined ? [] : [`location.id${place}`]),
          ...(provider === undefined ? [] : [`provider.id==${provider}`]),
        ].join(',');
        const called = await own.get(PATH, filter);
        if (expected.length === 0) expect(called.status).toBe(404);
        else expect(rowsOf(called)).toEqual(expected);
      }),
      { numRuns: 60, seed: 20_260_304 },
    );
  });
});
