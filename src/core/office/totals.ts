import type { OfficeColumn } from './report.ts';
import type { OfficeRow, OfficeTotals, OfficeValue } from './result.ts';

type Groups = Readonly<Record<string, Readonly<Record<string, number>>>>;
type More = (rows: readonly OfficeRow[]) => Readonly<Record<string, number | Groups>>;

/** What reports add to count and sums, by report. */
const MORE: Readonly<Record<string, More>> = {
  schedule: (rows) => ({ patients: new Set(rows.map((row) => String(row['patient.id']))).size }),
  'day-sheet': (rows) => ({
    chargesCents: sumOf(rows, 'amountCents', (cents) => cents > 0),
    creditsCents: sumOf(rows, 'amountCents', (cents) => cents < 0),
    byLedgerType: byLedgerType(rows, 'amountCents'),
  }),
  deposits: (rows) => ({ byLedgerType: byLedgerType(rows, 'depositCents') }),
};

/** Rows that are listed and no money any more. */
const VOID: readonly OfficeValue[] = ['cancelled', 'vanished'];

/**
 * `totals` of a report: how many rows, the sum of each column of cents, and what the report adds. Rows whose `change` is
 * `cancelled` or `vanished` count, and are in no sum.
 */
export function totalsOf(report: string, columns: readonly OfficeColumn[], rows: readonly OfficeRow[]): OfficeTotals {
  const valid = rows.filter(({ change }) => !VOID.includes(change));
  const money = columns.filter(({ kind }) => kind === 'cents');
  return {
    count: rows.length,
    ...Object.fromEntries(money.map(({ name }) => [name, sumOf(valid, name)])),
    ...MORE[report]?.(rows),
  };
}

function sumOf(rows: readonly OfficeRow[], name: string, counts: (cents: number) => boolean = () => true): number {
  return rows.reduce((sum, row) => {
    const cents = Number(row[name] ?? 0);
    return counts(cents) ? sum + cents : sum;
  }, 0);
}

function byLedgerType(rows: readonly OfficeRow[], money: string): Groups {
  const types = [...new Set(rows.map(({ ledgerType }) => String(ledgerType)))].sort();
  return Object.fromEntries(
    types.map((type) => {
      const own = rows.filter(({ ledgerType }) => ledgerType === type);
      return [type, { count: own.length, [money]: sumOf(own, money) }];
    }),
  );
}
