import fc from 'fast-check';
import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { type Called, rowOf } from '../../../support/calls.ts';
import { TestClock } from '../../../support/clock.ts';
import { sharedService } from '../../../support/service.ts';
import { cases } from '../../../support/store.ts';
import { newPractice, type Practice, setAgingPageLimit } from '../support.ts';
import { LOCATIONS, lifeOf, practices, type Step } from './generated.ts';
import { bigCents, type Ledger, oraclePages, oracleReport } from './oracle.ts';

const clock = new TestClock();
const service = sharedService(() => [], { clock });
const PATH = '/agingbalances/report';

async function live(practice: Practice, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if ('lines' in step) {
      await practice.import(step.lines);
    } else {
      const body = { primaryGuarantor: { id: step.guarantor } };
      const called = await practice.call('PUT', `/patients/${step.patient}`, { body });
      expect(called.status, called.text).toBe(200);
    }
    // What is remembered of pages must not outlive the next step.
    for (const page of [1, 2]) await practice.get(PATH, `location.id==ALL,page==${page}`);
  }
}

/** The data of an answer; no number of it may have more than two decimals or be -0. */
function dataOf(called: Called): unknown {
  expect(called.status, called.text).toBe(200);
  expect(called.text).not.toMatch(/-0[,}\]]|\.\d{3}|\de[+-]?\d/);
  return called.body.data;
}

async function checkLocation(practice: Practice, ledger: Ledger, place: number | 'ALL', limit: number): Promise<void> {
  const rows = ledger.transactions.filter(
    (row) => place === 'ALL' || (row.location as { id: number } | undefined)?.id === place,
  );
  const { total, pages } = oraclePages(ledger, place, limit);
  const read = (page: number) => practice.get(PATH, `location.id==${place},page==${page}`);
  const first = await read(1);
  if (rows.length === 0) return expect(first.status).toBe(404);
  expect(first.body.meta).toEqual({ pagination: { limit, total } });
  let sum = 0n;
  const seen: unknown[] = [];
  for (const [index, ids] of [...pages, new Set<number>()].entries()) {
    const called = index === 0 ? first : await read(index + 1);
    const data = dataOf(called) as { balance: number; patientReports: { id: string }[] };
    expect(data).toEqual(oracleReport(ledger, place, ids));
    expect(Object.hasOwn(called.body, 'meta')).toBe(index === 0);
    sum += bigCents(data.balance);
    seen.push(...data.patientReports.map((record) => record.id));
  }
  const whole = oracleReport(ledger, place);
  expect(sum).toBe(bigCents(whole.balance));
  expect(seen).toEqual(whole.patientReports.map((record) => record.id));
}

describe('the aging report of generated practices', () => {
  it('is what the ledger says, page by page, whatever was imported, changed, deleted and moved before', async () => {
    await fc.assert(
      fc.asyncProperty(practices, async (made) => {
        clock.advance(made.hour * 3_600_000);
        const { steps, ledger } = lifeOf(made, clock.now());
        setAgingPageLimit(service, made.limit);
        const practice = await newPractice(service, []);
        await live(practice, steps);
        for (const place of [...LOCATIONS, 'ALL'] as const) await checkLocation(practice, ledger, place, made.limit);
        // An earlier molar on the same database keeps no blocks, and raises the version.
        await service.service.store.write(async (tx) => {
          await tx.run(sql`UPDATE ledger_blocks SET transactions = transactions + 7`);
          await tx.run(sql`UPDATE ledger_versions SET version = version + 1`);
        });
        await checkLocation(practice, ledger, 'ALL', made.limit);
        clock.advance(-made.hour * 3_600_000);
      }),
      { numRuns: cases(20, 4), seed: 20_260_302 },
    );
  });

  it('selects guarantors by amounts and by id before anything is summed', async () => {
    const asked = fc.record({
      made: practices,
      key: fc.constantFrom('balance', 'thirtyDays', 'sixtyDays', 'ninetyDays'),
      operator: fc.constantFrom('==', '!=', '>', '>=', '<', '<='),
      pick: fc.nat(20),
      shift: fc.constantFrom(0, 0, 1, -1),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ made, key, operator, pick, shift }) => {
        setAgingPageLimit(service, 1000);
        const { steps, ledger } = lifeOf(made, clock.now());
        const practice = await newPractice(service, []);
        await live(practice, steps);
        if (ledger.transactions.length === 0) return;
        const amounts = oracleReport(ledger, 'ALL').patientReports.map((record) => bigCents((record as never)[key]));
        const wanted = (amounts[pick % amounts.length] ?? 0n) + BigInt(shift);
        const selects = (of: Readonly<Record<string, bigint>>) => holds(of[key]!, operator, wanted);
        const term = `${key}${operator}${Number(wanted) / 100}`;
        const paged = await practice.get(PATH, `location.id==*,page==1,${term}`);
        expect(dataOf(paged)).toEqual(oracleReport(ledger, 'ALL', undefined, selects));
        const guarantors = [...new Set(ledger.guarantors.values())].filter((_, index) => index % 2 === 0);
        const named = await practice.get(PATH, `location.id==ALL,patient.id->[${guarantors}],${term},page==7`);
        expect(rowOf(named)).toEqual(oracleReport(ledger, 'ALL', new Set(guarantors), selects));
        expect(named.body.meta).toBeUndefined();
      }),
      { numRuns: cases(14, 3), seed: 20_260_303 },
    );
  });
});

function holds(value: bigint, operator: string, wanted: bigint): boolean {
  return {
    '==': value === wanted,
    '!=': value !== wanted,
    '>': value > wanted,
    '>=': value >= wanted,
    '<': value < wanted,
    '<=': value <= wanted,
  }[operator] as boolean;
}
