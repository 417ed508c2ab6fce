import { describe, expect, it } from 'vitest';
import { refusalOf, rowsOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import type { Practice } from '../support.ts';
import { amounts, appointment, DAY, PATH, PRACTICE, practiceWith } from './practice.ts';

const service = sharedService(() => []);

let practice: Promise<Practice> | undefined;
const shared = () => (practice ??= practiceWith(service, ...PRACTICE));

describe('GET /locationproductionnetschedule', () => {
  it('answers an item for each scheduled appointment, by start, in cents', async () => {
    const called = await (
      await practiceWith(
        service,
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
      service,
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
    const own = await practiceWith(service, appointment(1, '2026-03-10T18:00:00Z', 1, { status }));
    expect(amounts(await own.get(PATH, DAY))).toEqual([100]);
  });

  it('follows appointments that are booked, moved and broken', async () => {
    const own = await practiceWith(service, appointment(1, '2026-03-10T18:00:00Z', 1));
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
      service,
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
      const own = await practiceWith(service, appointment(1, '2026-03-10T18:00:00Z', 1));
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
