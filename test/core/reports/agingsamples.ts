/** Cents of one guarantor: buckets from the youngest, each split in three, and credits (0 or below). */
export interface Cents {
  readonly id: string;
  readonly buckets: readonly (readonly [guarantor: number, insurance: number, writeOff: number])[];
  readonly credits: number;
  readonly claimsPending?: number;
}

const BUCKET_NAMES = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'];

/** Dollars of whole cents by decimal digits, not by division. */
export function decimal(cents: number): number {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return Number(`${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`) + 0;
}

function portion([guarantor = 0, insurance = 0, writeOff = 0]: readonly number[]) {
  return {
    guarantorPortion: decimal(guarantor),
    insurancePortion: decimal(insurance),
    writeOff: decimal(writeOff),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function column(buckets: Cents['buckets'], at: number): number {
  return sum(buckets.map((bucket) => bucket[at] ?? 0));
}

/** A record of `patientReports`. */
export function record({ id, buckets, credits, claimsPending = 0 }: Cents): Record<string, unknown> {
  const amounts = buckets.map((bucket) => sum(bucket));
  return {
    id,
    firstName: `First ${id}`,
    lastName: `Last ${id}`,
    ...Object.fromEntries(BUCKET_NAMES.map((name, at) => [name, decimal(amounts[at] ?? 0)])),
    ...Object.fromEntries(BUCKET_NAMES.map((name, at) => [`${name}Portion`, portion(buckets[at] ?? [])])),
    balance: decimal(sum(amounts) + credits),
    guarantorPortionBalance: decimal(column(buckets, 0) + credits),
    insurancePortionBalance: decimal(column(buckets, 1)),
    writeOffBalance: decimal(column(buckets, 2)),
    unAppliedCredits: decimal(credits),
    claimsPending,
  };
}

/** `data` of a page. */
export function page(guarantors: readonly Cents[]): Record<string, unknown> {
  const buckets = BUCKET_NAMES.map((_, at) =>
    [0, 1, 2].map((part) => sum(guarantors.map((each) => each.buckets[at]?.[part] ?? 0))),
  );
  const total = sum(buckets.map(sum));
  const credits = sum(guarantors.map((each) => each.credits));
  return {
    ...Object.fromEntries(BUCKET_NAMES.map((name, at) => [`${name}Amount`, decimal(sum(buckets[at] ?? []))])),
    ...Object.fromEntries(BUCKET_NAMES.map((name, at) => [`${name}Portion`, portion(buckets[at] ?? [])])),
    totalPortions: portion([0, 1, 2].map((part) => sum(buckets.map((bucket) => bucket[part] ?? 0)))),
    total: decimal(total),
    unappliedCreditsAmount: decimal(credits),
    balance: decimal(total + credits),
    patientReports: guarantors.map(record),
  };
}

/** A guarantor whose buckets are all the patient's own share. */
export function owing(id: string, amounts: readonly number[], credits = 0, claimsPending = 0): Cents {
  return { id, buckets: [0, 1, 2, 3].map((at) => [amounts[at] ?? 0, 0, 0] as const), credits, claimsPending };
}
