import { describe, expect, it } from 'vitest';
import { entriesOf } from '../../../contract/trail.ts';
import { rowOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import { type Line, patient } from '../support.ts';
import { brief, estimate, onto, PATH, page, paid, practiceWith, row } from './rows.ts';

const service = sharedService(() => []);

describe('GET /agingbalances/report', () => {
  it('answers a record and the sums over all records, field by field', async () => {
    const practice = await practiceWith(
      service,
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
      service,
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
    const practice = await practiceWith(service, row(1, 100), { ...paid(2, -70, onto(1, 60)), location: { id: 6 } });
    expect(brief(await page(practice, 5)).guarantors).toEqual([['1', [40, 0, 0, 0], 0, 40]]);
    expect(brief(await page(practice, 6)).guarantors).toEqual([['1', [0, 0, 0, 0], -10, -10]]);
    expect(brief(await page(practice, 'ALL')).guarantors).toEqual([['1', [40, 0, 0, 0], -10, 30]]);
  });

  it('follows every later change: import, deletion, another guarantor, a claim', async () => {
    const practice = await practiceWith(service, row(1, 100), paid(2, -30, onto(1, 30)));
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
    await practice.import([patient(1, 1), patient(2, 3)]);
    expect(await seen()).toEqual([
      ['1', [85, 0, 0, 0], -15, 70],
      ['3', [7, 0, 0, 0], 0, 7],
    ]);
    const claims = async () =>
      (rowOf(await page(practice)).patientReports as Line[]).map(({ claimsPending }) => claimsPending);
    const claim = { type: 'InsuranceClaim', id: 1, patient: { id: 2 }, status: 'PENDING' };
    await practice.import([claim]);
    expect(await claims()).toEqual([0, 1]);
    await practice.import([{ ...claim, status: 'PAID' }]);
    expect(await claims()).toEqual([0, 0]);
  });

  it('names every guarantor of a page, and counts their claims, however many there are', async () => {
    // One more than a statement asks of.
    const ids = Array.from({ length: 501 }, (_, n) => n + 100);
    const practice = await practiceWith(
      service,
      ...ids.flatMap((id) => [patient(id), row(id, 1, { patient: { id } })]),
      ...ids.map((id) => ({ type: 'InsuranceClaim', id, patient: { id }, status: 'PENDING' })),
    );
    const reports = rowOf(await practice.get(PATH, 'location.id==5,page==1')).patientReports as Line[];
    const facts = reports.map(({ firstName, lastName, claimsPending }) => [firstName, lastName, claimsPending]);
    expect(facts).toEqual(ids.map((id) => [`First${id}`, `Last${id}`, 1]));
  });

  it('is told of those whom it names alone', async () => {
    const practice = await practiceWith(service, row(1, 100), row(2, 5, { patient: { id: 4 } }));
    const found = await entriesOf(service, () => page(practice, 5, ',balance<50'));
    expect(found).toMatchObject([{ record_count: 1, ids: [4], patients: [4] }]);
  });

  it('leaves what settles no charge, or says no amount, with the credit', async () => {
    const practice = await practiceWith(
      service,
      row(1, 100),
      paid(2, -30, { chargeId: null, appliedAmount: 10 }, { chargeId: 1, appliedAmount: null }, onto(1, 5)),
    );
    expect(brief(await page(practice)).guarantors).toEqual([['1', [95, 0, 0, 0], -25, 70]]);
  });

  it('ages as days go by', async () => {
    const practice = await practiceWith(service, row(1, 80, { transactionDate: '2026-01-31' }));
    expect(brief(await page(practice)).guarantors).toEqual([['1', [80, 0, 0, 0], 0, 80]]);
    service.clock.advance(19 * 3_600_000);
    expect(brief(await page(practice)).guarantors).toEqual([['1', [0, 80, 0, 0], 0, 80]]);
    service.clock.advance(-19 * 3_600_000);
  });

  it('shows active distributions as they count', async () => {
    const practice = await practiceWith(service, row(1, 40), paid(2, -40, onto(1, 40)));
    const called = await practice.call('GET', '/transactions/2');
    expect(rowOf(called).distributions).toEqual([{ chargeId: 1, appliedAmount: 40, isActive: true }]);
  });
});
