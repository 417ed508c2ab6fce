import { describe, expect, it } from 'vitest';
import { idsOf } from '../support/calls.ts';
import { bareRecords, line } from '../support/practice.ts';
import { sharedService } from '../support/service.ts';

const visit = (id: number, firstVisitDate: string) =>
  line('PatientV1', { id, firstName: 'Visit', lastName: `${id}`, firstVisitDate });
/** The organization is in Denver: UTC−7 in winter, −6 from 2026-03-08 on. */
const service = sharedService(() => [
  ...bareRecords(),
  visit(1, '2026-01-15T06:59:59.999Z'),
  visit(2, '2026-01-15T07:00:00.000Z'),
  visit(3, '2026-01-15T16:30:00.000Z'),
  visit(4, '2026-07-15T05:59:59.999Z'),
  visit(5, '2026-07-15T06:00:00.000Z'),
]);

const found = async (filter: string) =>
  idsOf(await service.call('GET', '/patients', { query: { filter: `${filter},firstName==Visit` } }));

describe('times in filters (D7)', () => {
  it.each<[string, string, number[]]>([
    ['a date is its local midnight', 'firstVisitDate>=2026-01-15', [2, 3, 4, 5]],
    ['before a date', 'firstVisitDate<2026-01-15', [1]],
    ['at a date', 'firstVisitDate==2026-01-15', [2]],
    ['after a date, midnight not counted', 'firstVisitDate>2026-01-15', [3, 4, 5]],
    ['up to a date, midnight alone', 'firstVisitDate<=2026-01-15', [1, 2]],
    ['a date in summer', 'firstVisitDate>=2026-07-15', [5]],
    ['a local time', 'firstVisitDate==2026-01-15T09:30:00', [3]],
    ['a local time with a space and no seconds', 'firstVisitDate==2026-01-15 09:30', [3]],
    ['a quoted local time with fractions', 'firstVisitDate=="2026-01-15T09:30:00.000000"', [3]],
    ['an offset', 'firstVisitDate==2026-01-15T17:30:00+01:00', [3]],
    ['a span of days', 'firstVisitDate>=2026-01-15,firstVisitDate<2026-01-16', [2, 3]],
    ['the first and the last day there is', 'firstVisitDate>=0001-01-01,firstVisitDate<=9999-12-31', [1, 2, 3, 4, 5]],
    [
      'a bound between two milliseconds',
      'firstVisitDate>2026-01-15T06:59:59.9989Z,firstVisitDate<2026-01-15T06:59:59.9991Z',
      [1],
    ],
    ['no record between two milliseconds', 'firstVisitDate==2026-01-15T07:00:00.0001Z', []],
  ])('%s', async (_name, filter, ids) => {
    expect(await found(filter)).toEqual(ids);
  });

  it('keep a + that came unescaped, as separator and as sign', async () => {
    for (const text of [
      '2026-01-15+09:30',
      '2026-01-15T17:30:00+01:00',
      '2026-01-15+17:30:00+01:00',
      '2026-01-15T17:30:00+0100',
    ]) {
      const called = await service.call('GET', `/patients?filter=firstVisitDate==${text}`);
      expect(idsOf(called), text).toEqual([3]);
    }
  });
});
