import type { Person } from '../people.ts';

export type LedgerType =
  | 'PatientProcedureLedger'
  | 'PatientChargeAdjustment'
  | 'PatientCreditAdjustment'
  | 'PatientProcedurePayment'
  | 'InsurancePayment'
  | 'InsuranceRefundAdjustment'
  | 'PatientCreditCardRefund'
  | 'PatientCreditCardVoid';

/** A part of a credit that settles a charge, in cents. */
export interface Application {
  readonly charge: Entry;
  readonly cents: number;
}

export interface EntryDraft {
  readonly ledgerType: LedgerType;
  /** Charges positive, credits negative (D24). */
  readonly cents: number;
  readonly person: Person;
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

/** A row of a household's ledger before its ids are known. */
export interface Entry extends EntryDraft {
  id: number;
  active: boolean;
  previous: Entry | null;
  replacedBy: Entry | null;
  /** Cents that a plan is still expected to pay or has paid, and to take off. */
  estimate: { insurance: number; writeOff: number } | null;
}

/** A part of a charge that the household is to pay, in cents, on a day (which may never come). */
export interface Due {
  readonly charge: Entry;
  readonly cents: number;
  readonly day: number;
  readonly partial: boolean;
}

/** Rows of one household; ids follow the dates. */
export class Ledger {
  readonly #entries: Entry[] = [];

  add(draft: EntryDraft): Entry {
    const entry: Entry = { ...draft, id: 0, active: true, previous: null, replacedBy: null, estimate: null };
    this.#entries.push(entry);
    return entry;
  }

  /** Enters the right row for one that was wrong: the wrong one is cancelled (D25). */
  correct(wrong: Entry, right: Entry): void {
    wrong.active = false;
    wrong.replacedBy = right;
    right.previous = wrong;
  }

  /** The rows by date, numbered. */
  numbered(nextId: () => number): readonly Entry[] {
    // Array.sort is stable: what was entered at the same minute keeps its order.
    const sorted = this.#entries.sort((a, b) => a.day - b.day || a.minute - b.minute);
    for (const entry of sorted) entry.id = nextId();
    return sorted;
  }
}
