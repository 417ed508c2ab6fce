import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { aging } from '../../../src/catalog/resources/reports.ts';
import { Failure } from '../../../src/core/failure.ts';
import { moneyOf } from '../../../src/core/reports/agingmoney.ts';
import { type AgingQuestion, readLocation } from '../../../src/core/reports/agingread.ts';
import { agingReport, checkLine, checkOf, totalRows, totalsRow } from '../../../src/core/reports/agingreport.ts';
import { clientOf, Script, type Step, success } from '../transport/script.ts';
import { type Cents, owing, page } from './agingsamples.ts';

const question: AgingQuestion = { location: '5', terms: [], guarantors: undefined };
const first = (guarantors: readonly Cents[], limit: number, total: number) =>
  success(page(guarantors), { meta: { pagination: { limit, total } } });

async function read(steps: readonly Step[], more: Partial<AgingQuestion> = {}) {
  const script = new Script(...steps);
  const location = await readLocation(clientOf(script), operationOf(aging, 'report'), { ...question, ...more });
  return { location, filters: script.queries.map(({ filter }) => filter), left: script.left };
}

const failed = (steps: readonly Step[]) =>
  read(steps).then(
    () => undefined,
    (cause) => (cause instanceof Failure ? cause : undefined),
  );

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
      location.guarantors.map(({ id, claimsPending, cents }) => [id, claimsPending, moneyOf(cents).balance]),
    ).toEqual([
      ['7', 3, 620],
      ['8', 1, 30],
    ]);
    expect(location.money).toMatchObject({
      buckets: { current: 1100, thirtyDays: 30, sixtyDays: 0, ninetyDays: 20 },
      credits: -500,
      balance: 650,
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
    expect(location).toMatchObject({ changed: false, money: { balance: 560 } });
  });

  it('says so when it goes on changing', async () => {
    const reading = (total: number) => [first([ann], 2, total), success(page([])), first([ann], 2, total + 1)];
    const { location, left } = await read([3, 3, 3].flatMap(reading));
    expect({ changed: location.changed, left }).toEqual({ changed: true, left: 0 });
  });

  it('asks for 50 guarantors at a time', async () => {
    const guarantors = Array.from({ length: 51 }, (_, at) => String(at + 1));
    const { filters, location } = await read([success(page([ann])), success(page([bob]))], { guarantors });
    expect(filters).toEqual([
      `location.id==5,patient.id->[${guarantors.slice(0, 50).join(',')}]`,
      'location.id==5,patient.id->[51]',
    ]);
    expect(location).toMatchObject({ pages: 2, money: { balance: 560 } });
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
      'an amount that is text',
      success({ patientReports: [{ id: '1', current: '5' }] }, { meta: { pagination: { limit: 1, total: 1 } } }),
    ],
  ])('refuses %s with exit code 8', async (_, step) => {
    expect(await failed([step])).toMatchObject({ code: 'response.malformed', exitCode: 8, requestId: 'req-1' });
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
