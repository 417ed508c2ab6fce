import { type Line, wallTextIn } from '../support.ts';

/**
 * The aging report said a second time from D34 and D35, over plain records in memory and in BigInt cents. Nothing
 * here is shared with the server.
 */
export interface Ledger {
  readonly transactions: readonly Line[];
  /** Guarantor of each patient. */
  readonly guarantors: ReadonlyMap<number, number>;
  readonly claims: readonly Line[];
  /** Zone of a location; the organization's under 0. */
  readonly zones: ReadonlyMap<number, string>;
  readonly now: number;
}

interface Parts {
  guarantor: bigint;
  insurance: bigint;
  writeOff: bigint;
}

interface Debt {
  readonly buckets: [Parts, Parts, Parts, Parts];
  credits: bigint;
}

export interface OracleDistribution {
  readonly chargeId: number;
  readonly appliedAmount: number;
  readonly isActive?: boolean;
}

const NAMES = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;

export function bigCents(dollars: unknown): bigint {
  return BigInt(Math.round(Number(dollars ?? 0) * 100));
}

/** Dollars as they must stand on the wire. */
function wire(cents: bigint): number {
  return (
    Number(
      `${cents < 0n ? '-' : ''}${(cents < 0n ? -cents : cents) / 100n}.${String((cents < 0n ? -cents : cents) % 100n).padStart(2, '0')}`,
    ) || 0
  );
}

const idOf = (link: unknown): number => (link as { id: number } | undefined)?.id ?? 0;
const isActive = (row: Line) => row.isActive !== false;
const least = (a: bigint, b: bigint) => (a < b ? a : b);
const most = (a: bigint, b: bigint) => (a > b ? a : b);
const distributionsOf = (row: Line) =>
  ((row.distributions ?? []) as readonly OracleDistribution[]).filter((part) => part.isActive !== false);

function bucketOf(row: Line, ledger: Ledger): number {
  const zone = ledger.zones.get(idOf(row.location)) ?? ledger.zones.get(0) ?? 'UTC';
  const today = wallTextIn(zone)(ledger.now).slice(0, 10);
  const age = (Date.parse(today) - Date.parse(String(row.transactionDate))) / 86_400_000;
  if (age <= 30) return 0;
  if (age <= 60) return 1;
  return age <= 90 ? 2 : 3;
}

function rowsAt(ledger: Ledger, location: number | 'ALL'): Line[] {
  return ledger.transactions.filter((row) => isActive(row) && (location === 'ALL' || idOf(row.location) === location));
}

const guarantorOf = (ledger: Ledger, row: Line) => ledger.guarantors.get(idOf(row.patient)) ?? 0;

function debts(ledger: Ledger, location: number | 'ALL'): Map<number, Debt> {
  const charges = new Map(
    ledger.transactions
      .filter((row) => isActive(row) && bigCents(row.amount) > 0n)
      .map((row) => [row.id as number, row]),
  );
  const credits = ledger.transactions.filter((row) => isActive(row) && bigCents(row.amount) < 0n);
  const applied = (charge: Line, only?: string) =>
    credits
      .filter((credit) => only === undefined || credit.ledgerType === only)
      .flatMap(distributionsOf)
      .filter((part) => part.chargeId === charge.id)
      .reduce((sum, part) => sum + bigCents(part.appliedAmount), 0n);
  const result = new Map<number, Debt>();
  for (const row of rowsAt(ledger, location)) {
    const guarantor = guarantorOf(ledger, row);
    const nothing = (): Parts => ({ guarantor: 0n, insurance: 0n, writeOff: 0n });
    const debt = result.get(guarantor) ?? { buckets: [nothing(), nothing(), nothing(), nothing()], credits: 0n };
    result.set(guarantor, debt);
    if (charges.has(row.id as number)) {
      const outstanding = bigCents(row.amount) - applied(row);
      const estimate = (row.estimate ?? {}) as { insurance?: number; writeOff?: number };
      const writeOff = least(bigCents(estimate.writeOff), outstanding);
      const rest = outstanding - writeOff;
      const insurance = least(most(bigCents(estimate.insurance) - applied(row, 'InsurancePayment'), 0n), rest);
      const parts = debt.buckets[bucketOf(row, ledger)]!;
      parts.writeOff += writeOff;
      parts.insurance += insurance;
      parts.guarantor += rest - insurance;
    } else if (bigCents(row.amount) < 0n) {
      const spent = distributionsOf(row).filter((part) => charges.has(part.chargeId));
      debt.credits += bigCents(row.amount) + spent.reduce((sum, part) => sum + bigCents(part.appliedAmount), 0n);
    }
  }
  return result;
}

const amount = ({ guarantor, insurance, writeOff }: Parts) => guarantor + insurance + writeOff;
const total = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n);
const portion = (parts: readonly Parts[]) => ({
  guarantorPortion: wire(total(parts.map((part) => part.guarantor))),
  insurancePortion: wire(total(parts.map((part) => part.insurance))),
  writeOff: wire(total(parts.map((part) => part.writeOff))),
});

/** The whole report of a location, as one page holding `ids` would be answered; every guarantor when none are given. */
export function oracleReport(
  ledger: Ledger,
  location: number | 'ALL',
  ids?: ReadonlySet<number>,
  selects: (amounts: Readonly<Record<string, bigint>>) => boolean = () => true,
) {
  const chosen = [...debts(ledger, location)]
    .filter(([id]) => ids?.has(id) ?? true)
    .filter(([, debt]) => debt.credits !== 0n || debt.buckets.some((parts) => amount(parts) !== 0n))
    .filter(([, debt]) => selects(amountsOf(debt)))
    .sort(([a], [b]) => a - b);
  const all = chosen.map(([, debt]) => debt);
  const bucket = (index: number) => all.map((debt) => debt.buckets[index]!);
  const everything = all.flatMap((debt) => debt.buckets);
  const credits = total(all.map((debt) => debt.credits));
  return {
    ...Object.fromEntries(NAMES.map((name, index) => [`${name}Amount`, wire(total(bucket(index).map(amount)))])),
    ...Object.fromEntries(NAMES.map((name, index) => [`${name}Portion`, portion(bucket(index))])),
    totalPortions: portion(everything),
    total: wire(total(everything.map(amount))),
    unappliedCreditsAmount: wire(credits),
    balance: wire(total(everything.map(amount)) + credits),
    patientReports: chosen.map(([id, debt]) => ({
      id: String(id),
      firstName: `First${id}`,
      lastName: `Last${id}`,
      ...Object.fromEntries(NAMES.map((name, index) => [name, wire(amount(debt.buckets[index]!))])),
      ...Object.fromEntries(NAMES.map((name, index) => [`${name}Portion`, portion([debt.buckets[index]!])])),
      balance: wire(total(debt.buckets.map(amount)) + debt.credits),
      guarantorPortionBalance: wire(total(debt.buckets.map((parts) => parts.guarantor)) + debt.credits),
      insurancePortionBalance: portion(debt.buckets).insurancePortion,
      writeOffBalance: portion(debt.buckets).writeOff,
      unAppliedCredits: wire(debt.credits),
      claimsPending: ledger.claims.filter((claim) => claim.status === 'PENDING' && guarantorOf(ledger, claim) === id)
        .length,
    })),
  };
}

function amountsOf({ buckets, credits }: Debt): Record<string, bigint> {
  const named = Object.fromEntries(NAMES.map((name, index) => [name, amount(buckets[index]!)]));
  return { ...named, balance: total(buckets.map(amount)) + credits };
}

/** The guarantors of each page (D35), empty pages included. */
export function oraclePages(
  ledger: Ledger,
  location: number | 'ALL',
  limit: number,
): { total: number; pages: Set<number>[] } {
  const rows = rowsAt(ledger, location)
    .map((row) => guarantorOf(ledger, row))
    .sort((a, b) => a - b);
  const pages: Set<number>[] = Array.from({ length: Math.ceil(rows.length / limit) }, () => new Set());
  for (const guarantor of new Set(rows)) pages[Math.floor(rows.indexOf(guarantor) / limit)]?.add(guarantor);
  return { total: rows.length, pages };
}
