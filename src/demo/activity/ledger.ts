import { dateText, instantText, utcStart } from '../calendar.ts';
import type { Household } from '../households.ts';
import type { Person } from '../people.ts';
import type { DemoRecord, Practice } from '../practice.ts';
import { Random, weightedNames } from '../random.ts';
import type { Coverages } from './coverage.ts';

/** A part of a credit that settles a charge, in cents. */
export interface Application {
  readonly charge: Entry;
  readonly cents: number;
}

/** A row of a ledger as it is entered. Charges have positive cents, credits negative ones (D24). */
interface EntryDraft {
  readonly ledgerType:
    | 'PatientProcedureLedger'
    | 'PatientChargeAdjustment'
    | 'PatientCreditAdjustment'
    | 'PatientProcedurePayment'
    | 'InsurancePayment'
    | 'InsuranceRefundAdjustment'
    | 'PatientCreditCardRefund'
    | 'PatientCreditCardVoid';
  /** The sum of what the row settles, when not given. */
  readonly cents?: number;
  readonly person: Person;
  /** Id. */
  readonly provider: number;
  readonly day: number;
  /** Local minutes since midnight at which it was entered. */
  readonly minute: number;
  readonly note?: string;
  readonly byGuarantor?: boolean;
  readonly automatic?: boolean;
  readonly partial?: boolean;
  readonly applied?: readonly Application[];
  /** Further wire fields of its kind of entry. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A row of a household's ledger; its id is 0 until the rows are numbered. */
export interface Entry extends EntryDraft {
  readonly cents: number;
  id: number;
  active: boolean;
  previous: Entry | null;
  replacedBy: Entry | null;
  /** Cents that a plan is still expected to pay or has paid, and to take off. */
  estimate: { insurance: number; writeOff: number } | null;
}

/** A part of a charge that the household is to pay, in cents, on a day (which may never come). */
export interface Due extends Application {
  readonly day: number;
  readonly partial: boolean;
}

/** A claim sent to a plan for one visit. */
export interface Claim {
  readonly id: number;
  readonly person: Person;
  /** Id. */
  readonly provider: number;
  readonly day: number;
  readonly major: boolean;
  status: 'PENDING' | 'PAID' | 'DENIED';
}

/** How a household pays its part: at the visit, by statement, months late, or not at all. */
const PAY_STYLES = weightedNames({ prompt: 68, billed: 27, late: 4, never: 1 });

/** The ledger of one household over the last two years: its rows, claims, and what it is still to pay. */
export class HouseholdLedger {
  readonly random: Random;
  readonly style: (typeof PAY_STYLES)['values'][number];
  /** Last day on which anything can have been entered. */
  readonly lastDay: number;
  readonly claims: Claim[] = [];
  readonly dues: Due[] = [];
  readonly #entries: Entry[] = [];

  constructor(
    readonly practice: Practice,
    readonly household: Household,
    readonly coverages: Coverages,
  ) {
    this.random = new Random(practice.seed, 8, household.index);
    this.style = this.random.weighted(PAY_STYLES);
    this.lastDay = practice.today - 1;
  }

  /** Enters a row. */
  add(draft: EntryDraft): Entry {
    const cents = draft.cents ?? -sumOf(draft.applied?.map((part) => part.cents) ?? []);
    const entry: Entry = { ...draft, cents, id: 0, active: true, previous: null, replacedBy: null, estimate: null };
    this.#entries.push(entry);
    return entry;
  }

  /** Enters the right row for one that was wrong: the wrong one is cancelled (D25). */
  correct(wrong: Entry, draft: EntryDraft): void {
    const right = this.add(draft);
    wrong.active = false;
    wrong.replacedBy = right;
    right.previous = wrong;
  }

  /** Notes what the household is to pay for a charge, some larger parts in two payments. */
  owe(charge: Entry, cents: number, day: number): void {
    if (cents <= 0) return;
    if (cents <= 20_000 || !this.random.chance(this.style === 'prompt' ? 0.05 : 0.15)) {
      this.dues.push({ charge, cents, day, partial: false });
      return;
    }
    const half = Math.floor(cents / 2);
    this.dues.push({ charge, cents: half, day, partial: true });
    this.dues.push({ charge, cents: cents - half, day: day + 30, partial: true });
  }

  /**
   * The day on which the household pays a statement of what it has known of since `day`; infinite when it never does.
   * `settled`: whether the plan's share is final; statements go out only then.
   */
  statementDay(day: number, settled: boolean): number {
    if (this.style === 'never' || !settled) return Number.POSITIVE_INFINITY;
    return nextTwelfth(day + 5) + (this.style === 'late' ? 61 : 0);
  }

  /** The rows as records; ids follow the dates. */
  records(): DemoRecord[] {
    // Array.sort is stable: what was entered at the same minute keeps its order.
    const sorted = this.#entries.sort((a, b) => a.day - b.day || a.minute - b.minute);
    for (const entry of sorted) entry.id = this.practice.nextId('Transaction');
    return sorted.map((entry) => this.#record(entry));
  }

  /** One row in dollars (specification, Transaction; D24), with the estimate of a charge (contract §7). */
  #record(entry: Entry): DemoRecord {
    const { previous, replacedBy, estimate, applied = [], active } = entry;
    return {
      type: 'Transaction',
      organizationId: this.practice.organizationId,
      id: entry.id,
      ledgerType: entry.ledgerType,
      amount: entry.cents / 100,
      ownership: entry.byGuarantor === true ? 'GUARANTOR' : 'PATIENT',
      transactionDate: dateText(entry.day),
      entryDate: this.#enteredAt(entry),
      lastModified: this.#enteredAt(replacedBy ?? entry),
      isAutomaticallyPosted: entry.automatic === true,
      isActive: active,
      isPartialPayment: entry.partial === true,
      patient: { id: entry.person.id },
      location: { id: this.household.home.location.id },
      provider: { id: entry.provider },
      ...(entry.note !== undefined && { note: entry.note }),
      ...entry.fields,
      ...(previous && { previousTransaction: { id: previous.id } }),
      ...(replacedBy && { replacedByTransaction: { id: replacedBy.id } }),
      ...(applied.length > 0 && {
        distributions: applied.map(({ charge, cents }) => ({
          chargeId: charge.id,
          appliedAmount: cents / 100,
          isActive: active,
        })),
      }),
      ...(estimate && { estimate: { insurance: estimate.insurance / 100, writeOff: estimate.writeOff / 100 } }),
    };
  }

  /** In the west the evening of yesterday is today in UTC: nothing is entered later than the start of today. */
  #enteredAt({ day, minute }: Entry): string {
    const { clock } = this.household.home.location;
    return instantText(Math.min(clock.at(day, minute), utcStart(this.practice.today) - 1));
  }
}

/** The next 12th of a month. */
function nextTwelfth(day: number): number {
  const date = new Date(utcStart(day));
  const month = date.getUTCMonth() + (date.getUTCDate() > 12 ? 1 : 0);
  return Date.UTC(date.getUTCFullYear(), month, 12) / utcStart(1);
}

/** The sum of some amounts, 0 for none. */
export function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
