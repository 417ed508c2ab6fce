import type { Household } from '../people.ts';
import type { Practice } from '../practice.ts';
import { Random } from '../random.ts';
import { moveToGuarantor, postDeposit, postMissedFee, writeOffOldDebt } from './adjustments.ts';
import { postVisit } from './charges.ts';
import type { Claim } from './claims.ts';
import type { Coverages } from './coverage.ts';
import { type Entry, Ledger } from './entries.ts';
import { postPayments } from './payments.ts';
import { PAY_STYLES, type Posting } from './posting.ts';
import type { Work } from './works.ts';

/** The ledger of one household over the last two years, numbered by date, and its claims. */
export interface HouseholdLedger {
  readonly entries: readonly Entry[];
  readonly claims: readonly Claim[];
}

/** Enters everything that came of a household's visits. No charge is ever settled by more than its amount. */
export function postHousehold(
  practice: Practice,
  household: Household,
  works: readonly Work[],
  coverages: Coverages,
): HouseholdLedger {
  const random = new Random(practice.seed, 8, household.index);
  const posting: Posting = {
    practice,
    household,
    coverages,
    random,
    style: random.weighted(PAY_STYLES),
    lastDay: practice.today - 1,
    ledger: new Ledger(),
    claims: [],
    dues: [],
  };
  for (const work of works) {
    if (work.kept) postVisit(posting, work);
    else if (work.visit.slot.day >= practice.today) postDeposit(posting, work);
    else if (work.visit.status === 'NO_SHOW' || work.visit.status === 'BROKEN') postMissedFee(posting, work);
  }
  moveToGuarantor(posting);
  postPayments(posting);
  writeOffOldDebt(posting);
  return { entries: posting.ledger.numbered(() => practice.ids.next('Transaction')), claims: posting.claims };
}
