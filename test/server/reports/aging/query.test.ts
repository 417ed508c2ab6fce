import { describe, expect, it } from 'vitest';
import { some } from '../../../contract/probes.ts';
import { refusalOf, rowOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import { cases } from '../../../support/store.ts';
import { type Line, type Practice, patient, setAgingPageLimit } from '../support.ts';
import { brief, PATH, page, practiceWith, row } from './rows.ts';

const service = sharedService(() => []);

describe('pages', () => {
  const three = () => [
    row(1, 1),
    row(2, 1, { patient: { id: 2 } }),
    row(3, 1),
    row(4, 1, { isActive: false }),
    row(5, 2, { patient: { id: 3 } }),
    row(6, 4, { patient: { id: 4 } }),
  ];
  const idsOn = async (practice: Practice, number: number) => {
    const called = await practice.get(PATH, `location.id==5,page==${number}`);
    return (rowOf(called).patientReports as Line[]).map(({ id }) => id);
  };

  it('hold a guarantor whole where its first transaction falls; total counts active transactions', async () => {
    const practice = await practiceWith(service, ...three());
    setAgingPageLimit(service, 2);
    expect((await page(practice)).body.meta).toEqual({ pagination: { limit: 2, total: 5 } });
    expect(await idsOn(practice, 1)).toEqual(['1']);
    expect(await idsOn(practice, 2)).toEqual(['3']);
    expect(await idsOn(practice, 3)).toEqual(['4']);
    setAgingPageLimit(service, 1);
    expect(await idsOn(practice, 2)).toEqual([]);
    expect(await idsOn(practice, 4)).toEqual(['3']);
    setAgingPageLimit(service, 3);
    expect(await idsOn(practice, 1)).toEqual(['1']);
    expect(await idsOn(practice, 2)).toEqual(['3', '4']);
  });

  it('past the end are empty, with sums of nothing and no meta', async () => {
    const practice = await practiceWith(service, ...three());
    const called = await practice.get(PATH, 'location.id==5,page==2');
    expect(called.status).toBe(200);
    expect(called.body.meta).toBeUndefined();
    expect(rowOf(called)).toMatchObject({ total: 0, balance: 0, unappliedCreditsAmount: 0, patientReports: [] });
  });

  it('emptied by a filter still tell limit and total', async () => {
    const practice = await practiceWith(service, ...three());
    const called = await page(practice, 5, ',balance>1000');
    expect(rowOf(called)).toMatchObject({ total: 0, patientReports: [] });
    expect(called.body.meta).toEqual({ pagination: { limit: 1000, total: 5 } });
  });

  it('are 404 in a location without any transactions, not in one with inactive ones only', async () => {
    const practice = await practiceWith(service, row(1, 5, { isActive: false }));
    expect(refusalOf(await page(practice, 6))).toEqual({ status: 404, errors: ['record.not_found location.id'] });
    expect(refusalOf(await practice.get(PATH, 'location.id==6,patient.id->[1]')).status).toBe(404);
    const called = await page(practice);
    expect([called.status, called.body.meta]).toEqual([200, { pagination: { limit: 1000, total: 0 } }]);
    const empty = await practiceWith(service);
    expect(refusalOf(await page(empty, 'ALL'))).toEqual({ status: 404, errors: ['record.not_found location.id'] });
  });
});

describe('patient.id', () => {
  it('takes guarantors in any order and answers no meta, whatever the page', async () => {
    const practice = await practiceWith(
      service,
      row(1, 1),
      row(2, 2, { patient: { id: 3 } }),
      row(3, 4, { patient: { id: 4 } }),
    );
    for (const rest of ['', ',page==1', ',page==99']) {
      const called = await practice.get(PATH, `location.id==5,patient.id->[4,1,1]${rest}`);
      expect(brief(called).guarantors).toEqual([
        ['1', [1, 0, 0, 0], 0, 1],
        ['4', [4, 0, 0, 0], 0, 4],
      ]);
      expect(called.body.meta).toBeUndefined();
    }
    const both = await practice.get(PATH, 'location.id==5,patient.id->[4,1],patient.id->[3,4]');
    expect(brief(both).guarantors).toEqual([['4', [4, 0, 0, 0], 0, 4]]);
    const none = await practice.get(PATH, 'location.id==5,patient.id->[1],patient.id->[4]');
    expect(brief(none).guarantors).toEqual([]);
  });

  it('takes 50 at most', async () => {
    const ids = Array.from({ length: 51 }, (_, index) => index + 100);
    const practice = await practiceWith(service, ...ids.map((id) => patient(id)), row(1, 1));
    const read = (some: readonly number[]) => practice.get(PATH, `location.id==5,patient.id->[${some}]`);
    expect((await read(ids.slice(1))).status).toBe(200);
    expect((await read([...ids.slice(1), 150])).status).toBe(200);
    expect(refusalOf(await read(ids))).toEqual({ status: 400, errors: ['filter.value patient.id'] });
  });
});

describe('a term on an amount', () => {
  const HOLDS: Readonly<Record<string, (amount: number, wanted: number) => boolean>> = {
    '==': (amount, wanted) => amount === wanted,
    '!=': (amount, wanted) => amount !== wanted,
    '>': (amount, wanted) => amount > wanted,
    '>=': (amount, wanted) => amount >= wanted,
    '<': (amount, wanted) => amount < wanted,
    '<=': (amount, wanted) => amount <= wanted,
  };
  /** In cents, of guarantors 1 and 4. */
  const AMOUNTS = { balance: [8606, 70], thirtyDays: [2001, 0], sixtyDays: [3002, 0], ninetyDays: [4003, 0] };

  it('selects guarantors by what is above, below and equal, to the cent', async () => {
    const practice = await practiceWith(
      service,
      row(1, 1),
      row(2, 20.01, { transactionDate: '2026-01-15' }),
      row(3, 30.02, { transactionDate: '2025-12-15' }),
      row(4, 40.03, { transactionDate: '2025-01-15' }),
      row(5, -5),
      row(6, 0.7, { patient: { id: 4 } }),
    );
    for (const [key, amounts] of Object.entries(AMOUNTS)) {
      for (const [operator, holds] of Object.entries(HOLDS)) {
        for (const wanted of some(
          amounts.flatMap((cents) => [cents - 1, cents, cents + 1]),
          cases(6, 3),
        )) {
          const term = `,${key}${operator}${wanted / 100}`;
          const listed = brief(await page(practice, 5, term)).guarantors.map(([id]) => id);
          const expected = ['1', '4'].filter((_, index) => holds(amounts[index] as number, wanted));
          expect(listed, term).toEqual(expected);
        }
      }
    }
    const both = await page(practice, 5, ',thirtyDays>=20.01,balance<0.71');
    expect(brief(both).guarantors).toEqual([]);
  });
});

describe('a filter that is wrong', () => {
  it.each<[name: string, filter: string, ...errors: string[]]>([
    ['missing', '', 'filter.missing filter'],
    ['without a location', 'page==1', 'filter.missing location.id'],
    ['with an empty location', 'location.id==,page==1', 'filter.syntax location.id'],
    ['with a location that is no id', 'location.id==x,page==1', 'filter.value location.id'],
    ['with a list of locations', 'location.id->[5],page==1', 'filter.operator location.id'],
    ['with all but one location', 'location.id!=5,page==1', 'filter.operator location.id'],
    ['with two locations', 'location.id==5,location.id==6,page==1', 'field.conflict location.id'],
    ['with a location and all', 'location.id==5,location.id==ALL,page==1', 'field.conflict location.id'],
    ['without guarantors and page', 'location.id==5', 'filter.missing patient.id'],
    ['without anything but an amount', 'balance>0', 'filter.missing location.id', 'filter.missing patient.id'],
    ['with page 0', 'location.id==5,page==0', 'filter.value page'],
    ['with half a page', 'location.id==5,page==1.5', 'filter.value page'],
    ['with two pages', 'location.id==5,page==1,page==2', 'field.conflict page'],
    ['with a page list', 'location.id==5,page->[1]', 'filter.operator page'],
    ['with a patient who guarantees nobody', 'location.id==5,patient.id->[1,2]', 'filter.value patient.id'],
    ['with a patient who is not there', 'location.id==5,patient.id->[77]', 'filter.value patient.id'],
    ['with one guarantor by ==', 'location.id==5,patient.id==1', 'filter.operator patient.id'],
    ['with an amount that is none', 'location.id==5,page==1,balance>x', 'filter.value balance'],
    ['with tenths of cents', 'location.id==5,page==1,thirtyDays>0.001', 'filter.value thirtyDays'],
    ['with an amount list', 'location.id==5,page==1,sixtyDays->[1,2]', 'filter.operator sixtyDays'],
    ['with the current bucket', 'location.id==5,page==1,current>0', 'filter.key current'],
    [
      'wrong in several places',
      'location.id==x,patient.id->[2],ninetyDays>y',
      'filter.value location.id',
      'filter.value ninetyDays',
      'filter.value patient.id',
    ],
  ])('is 400: %s', async (_name, filter, ...errors) => {
    const practice = await practiceWith(service, row(1, 1));
    expect(refusalOf(await practice.get(PATH, filter))).toEqual({ status: 400, errors });
  });

  it('is 404 when the location is unknown', async () => {
    const practice = await practiceWith(service, row(1, 1));
    const unknown = await page(practice, 55);
    expect(refusalOf(unknown)).toEqual({ status: 404, errors: ['record.not_found location.id'] });
    expect(unknown.body.errors[0]?.description).toContain('no location 55');
    expect((await page(practice, 6)).body.errors[0]?.description).toContain('6 has no transactions');
  });

  it('is 400 for who is a guarantor in another organization', async () => {
    await practiceWith(service, patient(2), row(1, 1, { patient: { id: 2 } }));
    const practice = await practiceWith(service, row(1, 1));
    const asked = await practice.get(PATH, 'location.id==5,patient.id->[2]');
    expect(refusalOf(asked)).toEqual({ status: 400, errors: ['filter.value patient.id'] });
  });

  it('names the patients who are no guarantors', async () => {
    const practice = await practiceWith(service, row(1, 1));
    const called = await practice.get(PATH, 'location.id==5,patient.id->[2,1,77]');
    expect(called.body.errors[0]?.description).toContain('2, 77');
  });
});
