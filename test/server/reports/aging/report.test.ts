import { describe, expect, it } from 'vitest';
import { type Called, refusalOf, rowOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import { type Line, location, newPractice, type Practice, patient, setAgingPageLimit } from '../support.ts';

const service = sharedService(() => []);
const PATH = '/agingbalances/report';

/** 2026-03-02 05:00 in Denver, 2026-03-03 02:00 on Kiritimati. */
const PLACES = [
  location(5, 'America/Denver'),
  location(6, 'America/Denver'),
  location(7, 'Pacific/Kiritimati'),
  location(8),
];
/** 2 is under guarantor 1; 3 stands alone and has no transactions. */
const PEOPLE = [patient(1), patient(2, 1), patient(3), patient(4)];

/** A ledger row of patient 1 in location 5 on 2026-03-01; its sign makes it a charge or a payment. */
function row(id: number, amount: number, rest: Line = {}): Line {
  return {
    type: 'Transaction',
    id,
    amount,
    ledgerType: amount > 0 ? 'PatientProcedureLedger' : 'PatientProcedurePayment',
    transactionDate: '2026-03-01',
    patient: { id: 1 },
    location: { id: 5 },
    ...rest,
  };
}

const onto = (chargeId: number, appliedAmount: number, isActive?: boolean) => ({
  chargeId,
  appliedAmount,
  ...(isActive !== undefined && { isActive }),
});
const paid = (id: number, amount: number, ...distributions: Line[]) => row(id, amount, { distributions });
const insurancePaid = (id: number, amount: number, ...distributions: Line[]) =>
  row(id, amount, { ledgerType: 'InsurancePayment', distributions });
const estimate = (insurance: number, writeOff: number) => ({ estimate: { insurance, writeOff } });

async function practiceWith(...lines: Line[]): Promise<Practice> {
  setAgingPageLimit(service, 1000);
  return newPractice(service, [...PLACES, ...PEOPLE, ...lines]);
}

type Portion = readonly [guarantor: number, insurance: number, writeOff: number];

/** Id, buckets, unapplied credits and balance of every guarantor, and the split of all that is outstanding. */
function brief(called: Called) {
  const data = rowOf(called);
  const reports = data.patientReports as Line[];
  const { guarantorPortion, insurancePortion, writeOff } = data.totalPortions as Record<string, number>;
  return {
    guarantors: reports.map(({ id, current, thirtyDays, sixtyDays, ninetyDays, unAppliedCredits, balance }) => [
      id,
      [current, thirtyDays, sixtyDays, ninetyDays],
      unAppliedCredits,
      balance,
    ]),
    split: [guarantorPortion, insurancePortion, writeOff],
  };
}

const page = (practice: Practice, place: number | string = 5, rest = '') =>
  practice.get(PATH, `location.id==${place},page==1${rest}`);

interface Case {
  readonly name: string;
  readonly lines: readonly Line[];
  /** Of guarantor 1; null: not listed. */
  readonly buckets: readonly number[] | null;
  readonly unapplied?: number;
  readonly split?: Portion;
}

const CASES: readonly Case[] = [
  { name: 'a charge of today', lines: [row(1, 80, { transactionDate: '2026-03-02' })], buckets: [80, 0, 0, 0] },
  {
    name: 'a charge of tomorrow is current',
    lines: [row(1, 80, { transactionDate: '2026-03-03' })],
    buckets: [80, 0, 0, 0],
  },
  { name: '30 days old', lines: [row(1, 80, { transactionDate: '2026-01-31' })], buckets: [80, 0, 0, 0] },
  { name: '31 days old', lines: [row(1, 80, { transactionDate: '2026-01-30' })], buckets: [0, 80, 0, 0] },
  { name: '60 days old', lines: [row(1, 80, { transactionDate: '2026-01-01' })], buckets: [0, 80, 0, 0] },
  { name: '61 days old', lines: [row(1, 80, { transactionDate: '2025-12-31' })], buckets: [0, 0, 80, 0] },
  { name: '90 days old', lines: [row(1, 80, { transactionDate: '2025-12-02' })], buckets: [0, 0, 80, 0] },
  { name: '91 days old', lines: [row(1, 80, { transactionDate: '2025-12-01' })], buckets: [0, 0, 0, 80] },
  { name: 'years old', lines: [row(1, 80, { transactionDate: '1999-12-01' })], buckets: [0, 0, 0, 80] },
  { name: 'estimates split it', lines: [row(1, 100, estimate(60, 10))], buckets: [100, 0, 0, 0], split: [30, 60, 10] },
  { name: 'no estimate: all is the guarantor’s', lines: [row(1, 100)], buckets: [100, 0, 0, 0], split: [100, 0, 0] },
  {
    name: 'what insurance paid is no longer estimated',
    lines: [row(1, 100, estimate(60, 10)), insurancePaid(2, -40, onto(1, 40))],
    buckets: [60, 0, 0, 0],
    split: [30, 20, 10],
  },
  {
    name: 'insurance that paid more than estimated leaves no estimate',
    lines: [row(1, 100, estimate(60, 10)), insurancePaid(2, -80, onto(1, 80))],
    buckets: [20, 0, 0, 0],
    split: [10, 0, 10],
  },
  {
    name: 'a patient’s payment leaves the estimate, as far as it fits',
    lines: [row(1, 100, estimate(60, 10)), paid(2, -50, onto(1, 50))],
    buckets: [50, 0, 0, 0],
    split: [0, 40, 10],
  },
  {
    name: 'a write-off estimate takes no more than is outstanding',
    lines: [row(1, 20, estimate(60, 30))],
    buckets: [20, 0, 0, 0],
    split: [0, 0, 20],
  },
  {
    name: 'an estimate of the write-off alone',
    lines: [row(1, 20, { estimate: { writeOff: 5 } })],
    buckets: [20, 0, 0, 0],
    split: [15, 0, 5],
  },
  { name: 'a credit that is not distributed', lines: [paid(1, -25.5)], buckets: [0, 0, 0, 0], unapplied: -25.5 },
  {
    name: 'a credit that is distributed in part',
    lines: [row(1, 40), paid(2, -100, onto(1, 40))],
    buckets: [0, 0, 0, 0],
    unapplied: -60,
  },
  { name: 'a charge settled by a credit', lines: [row(1, 40), paid(2, -40, onto(1, 40))], buckets: null },
  {
    name: 'a charge settled by several credits',
    lines: [row(1, 40), paid(2, -15, onto(1, 15)), insurancePaid(3, -25, onto(1, 25))],
    buckets: null,
  },
  {
    name: 'two distributions of one credit onto one charge',
    lines: [row(1, 40), paid(2, -40, onto(1, 15), onto(1, 10))],
    buckets: [15, 0, 0, 0],
    unapplied: -15,
  },
  {
    name: 'an inactive distribution does not count',
    lines: [row(1, 40), paid(2, -40, onto(1, 40, false))],
    buckets: [40, 0, 0, 0],
    unapplied: -40,
  },
  {
    name: 'nothing of an inactive credit counts',
    lines: [row(1, 40), { ...paid(2, -40, onto(1, 40)), isActive: false }],
    buckets: [40, 0, 0, 0],
  },
  {
    name: 'a distribution onto an inactive charge does not count',
    lines: [row(1, 40, { isActive: false }), paid(2, -40, onto(1, 40))],
    buckets: [0, 0, 0, 0],
    unapplied: -40,
  },
  {
    name: 'nor onto a credit',
    lines: [paid(1, -30), paid(2, -40, onto(1, 30))],
    buckets: [0, 0, 0, 0],
    unapplied: -70,
  },
  {
    name: 'nor onto a charge that is not there',
    lines: [paid(2, -40, onto(9, 40))],
    buckets: [0, 0, 0, 0],
    unapplied: -40,
  },
  {
    name: 'a distribution on a charge settles nothing',
    lines: [row(1, 40), row(2, 30, { distributions: [onto(1, 40)] })],
    buckets: [70, 0, 0, 0],
  },
  {
    name: 'the sign alone tells a charge from a credit',
    lines: [
      row(1, 40, { ledgerType: 'PatientProcedurePayment' }),
      row(2, -15, { ledgerType: 'PatientProcedureLedger' }),
    ],
    buckets: [40, 0, 0, 0],
    unapplied: -15,
  },
  { name: 'a row of nothing', lines: [row(1, 0)], buckets: null },
  {
    name: 'equal debts and credits are two things',
    lines: [row(1, 40), paid(2, -40)],
    buckets: [40, 0, 0, 0],
    unapplied: -40,
  },
  {
    name: 'cents add up exactly',
    lines: [row(1, 0.1), row(2, 0.2), row(3, 1.1), row(4, 2.2)],
    buckets: [3.6, 0, 0, 0],
  },
  {
    name: 'a patient under the guarantor counts',
    lines: [row(1, 40, { patient: { id: 2 } }), row(2, 5)],
    buckets: [45, 0, 0, 0],
  },
  {
    name: 'a corrected row counts no more',
    lines: [row(1, 40), paid(2, -30, onto(1, 30)), { ...paid(3, -10, onto(1, 10)), previousTransaction: { id: 2 } }],
    buckets: [30, 0, 0, 0],
  },
];

describe('GET /agingbalances/report', () => {
  it.each(CASES.map((one) => [one.name, one] as const))(
    '%s',
    async (_name, { lines, buckets, unapplied = 0, split }) => {
      const practice = await practiceWith(...lines, row(90, 1, { patient: { id: 4 } }));
      const { guarantors, split: found } = brief(await page(practice, 5, ',balance!=1'));
      const balance = (buckets ?? []).reduce((sum, amount) => sum + amount, unapplied);
      expect(guarantors).toEqual(buckets === null ? [] : [['1', buckets, unapplied, balance]]);
      if (split !== undefined) expect(found).toEqual(split);
    },
  );

  it('answers a record and the sums over all records, field by field', async () => {
    const practice = await practiceWith(
      row(1, 100, { ...estimate(60, 10), transactionDate: '2026-02-20' }),
      row(2, 50, { ...estimate(20, 5), transactionDate: '2026-01-15', patient: { id: 2 } }),
      row(3, 30, { transactionDate: '2025-12-20' }),
      row(4, 9.99, { transactionDate: '2025-01-01' }),
      paid(5, -12.34),
      row(6, 0.01, { patient: { id: 4 } }),
      { type: 'InsuranceClaim', id: 1, patient: { id: 1 }, status: 'PENDING' },
      { type: 'InsuranceClaim', id: 2, patient: { id: 2 }, status: 'pending' },
      { type: 'InsuranceClaim', id: 3, patient: { id: 2 }, status: 'PAID' },
      { type: 'InsuranceClaim', id: 4, patient: { id: 4 } },
    );
    const portion = (guarantorPortion: number, insurancePortion: number, writeOff: number) => ({
      guarantorPortion,
      insurancePortion,
      writeOff,
    });
    const called = await page(practice);
    expect(called.body).toEqual({
      data: {
        currentAmount: 100.01,
        thirtyDaysAmount: 50,
        sixtyDaysAmount: 30,
        ninetyDaysAmount: 9.99,
        currentPortion: portion(30.01, 60, 10),
        thirtyDaysPortion: portion(25, 20, 5),
        sixtyDaysPortion: portion(30, 0, 0),
        ninetyDaysPortion: portion(9.99, 0, 0),
        totalPortions: portion(95, 80, 15),
        total: 190,
        unappliedCreditsAmount: -12.34,
        balance: 177.66,
        patientReports: [
          {
            id: '1',
            firstName: 'First1',
            lastName: 'Last1',
            current: 100,
            thirtyDays: 50,
            sixtyDays: 30,
            ninetyDays: 9.99,
            currentPortion: portion(30, 60, 10),
            thirtyDaysPortion: portion(25, 20, 5),
            sixtyDaysPortion: portion(30, 0, 0),
            ninetyDaysPortion: portion(9.99, 0, 0),
            balance: 177.65,
            guarantorPortionBalance: 82.65,
            insurancePortionBalance: 80,
            writeOffBalance: 15,
            unAppliedCredits: -12.34,
            claimsPending: 2,
          },
          {
            id: '4',
            firstName: 'First4',
            lastName: 'Last4',
            current: 0.01,
            thirtyDays: 0,
            sixtyDays: 0,
            ninetyDays: 0,
            currentPortion: portion(0.01, 0, 0),
            thirtyDaysPortion: portion(0, 0, 0),
            sixtyDaysPortion: portion(0, 0, 0),
            ninetyDaysPortion: portion(0, 0, 0),
            balance: 0.01,
            guarantorPortionBalance: 0.01,
            insurancePortionBalance: 0,
            writeOffBalance: 0,
            unAppliedCredits: 0,
            claimsPending: 0,
          },
        ],
      },
      warnings: [],
      errors: [],
      meta: { pagination: { limit: 1000, total: 6 } },
    });
  });

  it('counts days in the zone of the row’s location, the organization’s where it has none', async () => {
    const day = { transactionDate: '2026-01-31' };
    const practice = await practiceWith(
      row(1, 1, day),
      row(2, 2, { ...day, location: { id: 7 } }),
      row(3, 4, { ...day, location: { id: 8 } }),
      row(4, 8, { ...day, location: null }),
    );
    expect(brief(await page(practice, 5)).guarantors).toEqual([['1', [1, 0, 0, 0], 0, 1]]);
    expect(brief(await page(practice, 7)).guarantors).toEqual([['1', [0, 2, 0, 0], 0, 2]]);
    expect(brief(await page(practice, 8)).guarantors).toEqual([['1', [4, 0, 0, 0], 0, 4]]);
    for (const all of ['ALL', '*', '"all"']) {
      expect(brief(await page(practice, all)).guarantors).toEqual([['1', [13, 2, 0, 0], 0, 15]]);
    }
  });

  it('leaves money where its row stands, wherever the credit is from', async () => {
    const practice = await practiceWith(row(1, 100), { ...paid(2, -70, onto(1, 60)), location: { id: 6 } });
    expect(brief(await page(practice, 5)).guarantors).toEqual([['1', [40, 0, 0, 0], 0, 40]]);
    expect(brief(await page(practice, 6)).guarantors).toEqual([['1', [0, 0, 0, 0], -10, -10]]);
    expect(brief(await page(practice, 'ALL')).guarantors).toEqual([['1', [40, 0, 0, 0], -10, 30]]);
  });

  it('follows every later change: import, deletion, another guarantor, a claim', async () => {
    const practice = await practiceWith(row(1, 100), paid(2, -30, onto(1, 30)));
    const seen = async () => brief(await page(practice)).guarantors;
    expect(await seen()).toEqual([['1', [70, 0, 0, 0], 0, 70]]);
    await practice.import([row(1, 90)]);
    expect(await seen()).toEqual([['1', [60, 0, 0, 0], 0, 60]]);
    await practice.import([{ type: 'Transaction', id: 2, deleted: true }]);
    expect(await seen()).toEqual([['1', [90, 0, 0, 0], 0, 90]]);
    await practice.import([paid(3, -20, onto(1, 5)), row(4, 7, { patient: { id: 2 } })]);
    expect(await seen()).toEqual([['1', [92, 0, 0, 0], -15, 77]]);
    await practice.call('PUT', '/patients/2', { body: { primaryGuarantor: { id: 4 } } });
    expect(await seen()).toEqual([
      ['1', [85, 0, 0, 0], -15, 70],
      ['4', [7, 0, 0, 0], 0, 7],
    ]);
    await practice.import([patient(1, 3)]);
    expect(await seen()).toEqual([
      ['3', [85, 0, 0, 0], -15, 70],
      ['4', [7, 0, 0, 0], 0, 7],
    ]);
    const claims = async () =>
      (rowOf(await page(practice)).patientReports as Line[]).map(({ claimsPending }) => claimsPending);
    const claim = { type: 'InsuranceClaim', id: 1, patient: { id: 2 }, status: 'PENDING' };
    await practice.import([claim]);
    expect(await claims()).toEqual([0, 1]);
    await practice.import([{ ...claim, status: 'PAID' }]);
    expect(await claims()).toEqual([0, 0]);
  });

  it('ages as days go by', async () => {
    const practice = await practiceWith(row(1, 80, { transactionDate: '2026-01-31' }));
    expect(brief(await page(practice)).guarantors).toEqual([['1', [80, 0, 0, 0], 0, 80]]);
    service.clock.advance(19 * 3_600_000);
    expect(brief(await page(practice)).guarantors).toEqual([['1', [0, 80, 0, 0], 0, 80]]);
    service.clock.advance(-19 * 3_600_000);
  });

  it('shows active distributions as they count', async () => {
    const practice = await practiceWith(row(1, 40), paid(2, -40, onto(1, 40)));
    const called = await practice.call('GET', '/transactions/2');
    expect(rowOf(called).distributions).toEqual([{ chargeId: 1, appliedAmount: 40, isActive: true }]);
  });
});

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
    const practice = await practiceWith(...three());
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
    const practice = await practiceWith(...three());
    const called = await practice.get(PATH, 'location.id==5,page==2');
    expect(called.status).toBe(200);
    expect(called.body.meta).toBeUndefined();
    expect(rowOf(called)).toMatchObject({ total: 0, balance: 0, unappliedCreditsAmount: 0, patientReports: [] });
  });

  it('emptied by a filter still tell limit and total', async () => {
    const practice = await practiceWith(...three());
    const called = await page(practice, 5, ',balance>1000');
    expect(rowOf(called)).toMatchObject({ total: 0, patientReports: [] });
    expect(called.body.meta).toEqual({ pagination: { limit: 1000, total: 5 } });
  });

  it('are 404 in a location without any transactions, not in one with inactive ones only', async () => {
    const practice = await practiceWith(row(1, 5, { isActive: false }));
    expect(refusalOf(await page(practice, 6))).toEqual({ status: 404, errors: ['record.not_found location.id'] });
    expect(refusalOf(await practice.get(PATH, 'location.id==6,patient.id->[1]')).status).toBe(404);
    const called = await page(practice);
    expect([called.status, called.body.meta]).toEqual([200, { pagination: { limit: 1000, total: 0 } }]);
    const empty = await practiceWith();
    expect(refusalOf(await page(empty, 'ALL'))).toEqual({ status: 404, errors: ['record.not_found location.id'] });
  });
});

describe('patient.id', () => {
  it('takes guarantors in any order and answers no meta, whatever the page', async () => {
    const practice = await practiceWith(
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
    const practice = await practiceWith(...ids.map((id) => patient(id)), row(1, 1));
    const read = (some: readonly number[]) => practice.get(PATH, `location.id==5,patient.id->[${some}]`);
    expect((await read(ids.slice(1))).status).toBe(200);
    expect((await read([...ids.slice(1), 150])).status).toBe(200);
    expect(refusalOf(await read(ids))).toEqual({ status: 400, errors: ['filter.value patient.id'] });
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
    const practice = await practiceWith(row(1, 1));
    expect(refusalOf(await practice.get(PATH, filter))).toEqual({ status: 400, errors });
  });

  it('is 404 when the location is unknown', async () => {
    const practice = await practiceWith(row(1, 1));
    expect(refusalOf(await page(practice, 55))).toEqual({ status: 404, errors: ['record.not_found location.id'] });
  });

  it('names the patients who are no guarantors', async () => {
    const practice = await practiceWith(row(1, 1));
    const called = await practice.get(PATH, 'location.id==5,patient.id->[2,1,77]');
    expect(called.body.errors[0]?.description).toContain('2, 77');
  });
});
