import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { aging } from '../../../src/catalog/resources/reports.ts';
import { Failure } from '../../../src/core/failure.ts';
import { moneyOf } from '../../../src/core/reports/agingmoney.ts';
import { type LocationQuery, readLocation } from '../../../src/core/reports/agingread.ts';
import {
  agingReport,
  checkLine,
  checkOf,
  recordRows,
  totalRows,
  totalsRow,
} from '../../../src/core/reports/agingreport.ts';
import { PARTS_OF_CENT } from '../../../src/core/reports/money.ts';
import { clientOf, Script, type Step, success } from '../transport/script.ts';
import { type Cents, owing, page } from './agingsamples.ts';

const question: LocationQuery = {
  location: '5',
  terms: [],
  guarantors: undefined,
  signal: new AbortController().signal,
};
const first = (guarantors: readonly Cents[], limit: number, total: number) =>
  success(page(guarantors), { meta: { pagination: { limit, total } } });

async function read(steps: readonly Step[], more: Partial<LocationQuery> = {}) {
  const script = new Script(...steps);
  const location = await readLocation(clientOf(script), operationOf(aging, 'report'), { ...question, ...more });
  return { location, filters: script.queries.map(({ filter }) => filter), left: script.left };
}

const failed = (steps: readonly Step[]) =>
  read(steps).then(
    () => undefined,
    (cause) => (cause instanceof Failure ? cause : undefined),
  );

const inParts = (cents: number) => cents * PARTS_OF_CENT;

const ann = owing('7', [1010, 0, 0, 20], -500, 2);
const bob = owing('8', [0, 30, 0, 0], 0, 1);

describe('readLocation', () => {
  it('fetches as many pages as the first one tells of, and merges what is split over them', async () => {
    const split = owing('7', [90, 0, 0, 0], 0, 3);
    const told: string[] = [];
    const { location, filters } = await read(
      [first([ann], 2, 5), success(page([])), success(page([split, bob])), first([ann], 2, 5)],
      { onPage: (number, pages) => told.push(`${number}/${pages}`) },
    );
    expect(filters).toEqual([1, 2, 3, 1].map((number) => `location.id==5,page==${number}`));
    expect(told).toEqual(['1/3', '2/3', '3/3']);
    expect(location).toMatchObject({ location: '5', pages: 3, problems: [], changed: false });
    expect(
      location.guarantors.map(({ id, claimsPending, amounts }) => [id, claimsPending, moneyOf(amounts).balance]),
    ).toEqual([
      ['7', 3, inParts(620)],
      ['8', 1, inParts(30)],
    ]);
    expect(location.money).toMatchObject({
      buckets: { current: inParts(1100), thirtyDays: inParts(30), sixtyDays: 0, ninetyDays: inParts(20) },
      credits: inParts(-500),
      balance: inParts(650),
    });
  });

  it('repeats other terms with every page', async () => {
    const terms = [{ key: 'balance', operator: '>=', values: ['10'] }] as const;
    const { filters } = await read([first([], 1, 2), success(page([])), first([], 1, 2)], { terms, location: 'ALL' });
    expect(new Set(filters)).toEqual(
      new Set(['location.id==ALL,balance>=10,page==1', 'location.id==ALL,balance>=10,page==2']),
    );
  });

  it('asks once where one page is all', async () => {
    expect((await read([first([bob], 1000, 1000)])).filters).toEqual(['location.id==5,page==1']);
    expect((await read([first([], 1000, 0)])).location.guarantors).toEqual([]);
  });

  it('reads a ledger that changed in between again', async () => {
    const { location, filters } = await read([
      ...[first([ann], 1, 2), success(page([])), first([ann], 1, 3)],
      ...[first([ann], 1, 3), success(page([bob])), success(page([])), first([ann], 1, 3)],
    ]);
    expect(filters.map((filter) => filter?.slice(-1)).join('')).toBe('1211231');
    expect(location).toMatchObject({ changed: false, money: { balance: inParts(560) } });
  });

  it('says so when it goes on changing', async () => {
    const reading = (total: number) => [first([ann], 2, total), success(page([])), first([ann], 2, total + 1)];
    const { location, left } = await read([3, 3, 3].flatMap(reading));
    expect({ changed: location.changed, left }).toEqual({ changed: true, left: 0 });
  });

  it('takes counts that are text', async () => {
    const counted = (guarantors: readonly Cents[]) =>
      success(page(guarantors), { meta: { pagination: { limit: '2', total: '3' } } });
    const { filters } = await read([counted([ann]), success(page([bob])), counted([ann])]);
    expect(filters.map((filter) => filter?.slice(-1)).join('')).toBe('121');
  });

  it('asks for 50 guarantors at a time', async () => {
    const guarantors = Array.from({ length: 51 }, (_, at) => String(at + 1));
    const { filters, location } = await read([success(page([ann])), success(page([bob]))], { guarantors });
    expect(filters).toEqual([
      `location.id==5,patient.id->[${guarantors.slice(0, 50).join(',')}]`,
      'location.id==5,patient.id->[51]',
    ]);
    expect(location).toMatchObject({ pages: 2, money: { balance: inParts(560) } });
  });

  it.each([
    [
      'a balance',
      { ...page([ann]), patientReports: [{ ...(page([ann]).patientReports as object[])[0], balance: 9 }] },
      [
        'Location 5, page 1: guarantor 7 has buckets of 10.30 and credits -5.00 but a balance of 9.00.',
        'Location 5, page 1: balance is 5.30 but its guarantors add up to 9.00.',
      ],
    ],
    [
      'a sum',
      { ...page([ann]), total: 10.31 },
      ['Location 5, page 1: total is 10.31 but its guarantors add up to 10.30.'],
    ],
    [
      'a part of a sum',
      { ...page([ann]), totalPortions: { guarantorPortion: 10.3, insurancePortion: 1, writeOff: 0 } },
      ['Location 5, page 1: totalPortions.insurancePortion is 1.00 but its guarantors add up to 0.00.'],
    ],
    ['nothing, where sums are absent', { patientReports: page([ann]).patientReports }, []],
  ])('finds %s wrong', async (_, data, problems) => {
    const { location } = await read([success(data, { meta: { pagination: { limit: 9, total: 9 } } })]);
    expect(location.problems).toEqual(problems);
  });

  it.each([
    ['no pagination', success(page([]))],
    ['a limit of 0', first([], 0, 5)],
    ['no data', success([], { meta: { pagination: { limit: 1, total: 1 } } })],
    ['a guarantor without id', success({ patientReports: [{}] }, { meta: { pagination: { limit: 1, total: 1 } } })],
    [
      'an amount that is none',
      success({ patientReports: [{ id: '1', current: 'five' }] }, { meta: { pagination: { limit: 1, total: 1 } } }),
    ],
    ['a count that is none', success(page([]), { meta: { pagination: { limit: '2.5', total: '9' } } })],
  ])('refuses %s with exit code 8', async (_, step) => {
    expect(await failed([step])).toMatchObject({ code: 'response.malformed', exitCode: 8, requestId: 'req-1' });
  });
});

describe('fractions of a cent', () => {
  /** One guarantor of these dollars: buckets 0–30 and over 90, credits, balance; all of it the patient's share. */
  const fractional = (
    id: string,
    current: unknown,
    ninetyDays: unknown,
    unAppliedCredits: unknown,
    balance: unknown,
  ) => ({
    ...{ id, current, ninetyDays, unAppliedCredits, balance },
  });
  const answered = (records: readonly object[], sums: object = {}) =>
    success({ ...sums, patientReports: records }, { meta: { pagination: { limit: 9, total: 9 } } });
  const reportOf = async (step: Step) => agingReport([(await read([step])).location]);

  it('are added exactly, shown rounded away from zero, and told', async () => {
    const report = await reportOf(
      answered([fractional('1', 12.345, '0.004', '-1.005', '11.344'), fractional('2', '0.004', 0, 0, 0.004)], {
        currentAmount: 12.349,
        ninetyDaysAmount: '0.004',
        total: 12.353,
        unappliedCreditsAmount: -1.005,
        balance: '11.348',
      }),
    );
    expect([...recordRows(report)]).toMatchObject([
      { id: '1', current: 12.35, ninetyDays: 0, unAppliedCredits: -1.01, balance: 11.34 },
      { id: '2', current: 0, balance: 0 },
    ]);
    expect(totalsRow(report)).toMatchObject({
      currentAmount: 12.35,
      ninetyDaysAmount: 0,
      total: 12.35,
      balance: 11.35,
    });
    expect(checkOf(report)).toEqual({
      ok: true,
      buckets: 12.35,
      unappliedCredits: -1.01,
      balance: 11.35,
      difference: 0,
      pages: 1,
      problems: [],
      fractionsOfCents: 6,
      roundedSums: 0,
    });
    expect(checkLine(report)).toBe(
      'Check: buckets 12.35 + credits -1.01 = balance 11.35; the page adds up; 6 amounts have fractions of a cent.',
    );
  });

  it('may be rounded in the sums of the server, which is told too', async () => {
    const sums = { currentAmount: 12.35, total: 12.34, balance: 12.35 };
    const report = await reportOf(answered([fractional('1', 12.345, 0, 0, 12.35)], sums));
    expect(report).toMatchObject({ problems: [], fractions: 1, roundings: 3 });
    expect(checkLine(report)).toBe(
      'Check: buckets 12.35 + credits 0.00 is not balance 12.35, by -0.005; the page adds up; 1 amount has fractions of a cent; 3 sums differ by their rounding.',
    );
    expect(checkOf(report)).toMatchObject({ ok: true, difference: -0.005, roundedSums: 3 });
  });

  it.each([
    ['by more than rounding', { currentAmount: 12.36 }, 'currentAmount is 12.36 but its guarantors add up to 12.345'],
    [
      'where no amount has fractions',
      { sixtyDaysAmount: 0.01 },
      'sixtyDaysAmount is 0.01 but its guarantors add up to 0.00',
    ],
  ])('do not excuse sums that are wrong %s', async (_name, sums, problem) => {
    const report = await reportOf(answered([fractional('1', 12.345, 0, 0, 12.345)], sums));
    expect(report.problems).toEqual([`Location 5, page 1: ${problem}.`]);
  });

  it('do not excuse a balance that is wrong', async () => {
    const report = await reportOf(answered([fractional('1', 12.345, 0, 0, 12.36)]));
    expect(report.problems).toEqual([
      'Location 5, page 1: guarantor 1 has buckets of 12.345 and credits 0.00 but a balance of 12.36.',
    ]);
  });

  it('are not seen in what floating point leaves of whole cents', async () => {
    const noise = [0.1 + 0.2, 1234.5600000000002, 1e8 + 0.01];
    const report = await reportOf(answered(noise.map((amount, at) => fractional(String(at), amount, 0, 0, amount))));
    expect(report).toMatchObject({ problems: [], fractions: 0, roundings: 0 });
    expect(totalsRow(report)).toMatchObject({ balance: 100_001_234.87 });
  });
});

describe('agingReport', () => {
  const locations = async () => [
    (await read([first([ann, bob], 9, 9)])).location,
    (await read([first([owing('7', [5])], 9, 9)], { location: '6' })).location,
  ];

  it('adds locations and counts each guarantor once', async () => {
    const report = agingReport(await locations());
    expect(totalRows(report)).toMatchObject([
      { location: 5, guarantors: 2, currentAmount: 10.1, total: 10.6, unappliedCreditsAmount: -5, balance: 5.6 },
      { location: 6, guarantors: 1, currentAmount: 0.05, total: 0.05, unappliedCreditsAmount: 0, balance: 0.05 },
      { location: 'ALL', guarantors: 2, currentAmount: 10.15, total: 10.65, unappliedCreditsAmount: -5, balance: 5.65 },
    ]);
    expect(checkOf(report)).toEqual({
      ok: true,
      buckets: 10.65,
      unappliedCredits: -5,
      balance: 5.65,
      difference: 0,
      pages: 2,
      problems: [],
    });
    expect(checkLine(report)).toBe('Check: buckets 10.65 + credits -5.00 = balance 5.65; all 2 pages add up.');
  });

  it('shows ALL once where it is the only location', async () => {
    const report = agingReport([(await read([first([ann], 9, 9)], { location: 'ALL' })).location]);
    expect(totalRows(report)).toEqual([totalsRow(report)]);
  });
});
