import type { Household } from '../households.ts';
import type { Practice } from '../practice.ts';
import { tagged } from '../references.ts';
import type { Appointment } from './appointments.ts';
import { type Covered, postClaim } from './claims.ts';
import type { Coverages, Estimate } from './coverage.ts';
import { type Claim, type Entry, HouseholdLedger } from './ledger.ts';
import { moveToGuarantor, postDeposit, postMissedFee, postPayments, writeOffOldDebt } from './payments.ts';

/** Enters everything that came of a household's visits. No charge is ever settled by more than its amount. */
export function postHousehold(
  practice: Practice,
  household: Household,
  appointments: readonly Appointment[],
  coverages: Coverages,
): HouseholdLedger {
  const ledger = new HouseholdLedger(practice, household, coverages);
  for (const appointment of appointments) {
    const { slot, status } = appointment.visit;
    if (appointment.completed) postVisit(ledger, appointment);
    else if (slot.day >= practice.today) postDeposit(ledger, appointment);
    else if (status === 'NO_SHOW' || status === 'BROKEN') postMissedFee(ledger, appointment);
  }
  moveToGuarantor(ledger);
  postPayments(ledger);
  writeOffOldDebt(ledger);
  return ledger;
}

/** A charge, what its plan promises for it (null when nothing), and the cents that are left to the household. */
interface Charged {
  readonly charge: Entry;
  readonly estimate: Estimate | null;
  readonly own: number;
}

/** Enters a completed visit: its charges, the claim with what came of it, and what the household is to pay. */
function postVisit(ledger: HouseholdLedger, appointment: Appointment): void {
  const { random, style } = ledger;
  const { person, visit, procedures } = appointment;
  const { day } = visit.slot;
  const coverage = ledger.coverages.get(person);
  const promises = procedures.map(({ category, fee }) =>
    coverage?.covers(day, category) ? coverage.promise(day, category, fee) : null,
  );
  const isClaimed = promises.some((promise) => promise !== null && promise.insurance > 0);
  const claim = isClaimed ? openClaim(ledger, appointment) : undefined;
  const charged = postCharges(ledger, appointment, claim, isClaimed ? promises : []);
  if (random.chance(0.004)) enterMistake(ledger, charged);
  const isDiscounted = !isClaimed && random.chance(person.age >= 65 ? 0.15 : 0.02);
  if (isDiscounted) giveDiscount(ledger, charged);
  const covered = charged.filter((each): each is Charged & Covered => each.estimate !== null);
  const outcome =
    claim && coverage
      ? postClaim(ledger, coverage, claim, covered)
      : { settled: true, day, left: new Map<Entry, number>() };
  const statement = ledger.statementDay(outcome.day, outcome.settled);
  for (const { charge, own } of charged) {
    // Who pays at the visit pays the estimate then; whoever is billed waits for the plan.
    ledger.owe(charge, isDiscounted ? own - tenth(own) : own, style === 'prompt' ? day : statement);
    ledger.owe(charge, outcome.left.get(charge) ?? 0, statement);
  }
}

function openClaim(
  { practice, claims }: HouseholdLedger,
  { person, visit, operatory, procedures }: Appointment,
): Claim {
  const major = procedures.some(({ category }) => category === 'major');
  const [id, provider] = [practice.nextId('InsuranceClaim'), operatory.provider.id];
  const claim: Claim = { id, person, provider, day: visit.slot.day, major, status: 'PENDING' };
  claims.push(claim);
  return claim;
}

function postCharges(
  ledger: HouseholdLedger,
  { person, visit: { slot }, operatory, procedures }: Appointment,
  claim: Claim | undefined,
  promises: readonly (Estimate | null)[],
): Charged[] {
  return procedures.map(({ name, category, fee }, index) => {
    const estimate = promises[index] ?? null;
    const charge = ledger.add({
      ledgerType: 'PatientProcedureLedger',
      cents: fee,
      person,
      provider: operatory.provider.id,
      day: slot.day,
      minute: slot.start + slot.duration,
      note: name,
      fields: {
        patientProcedure: { id: ledger.practice.nextId('PatientProcedure') },
        ...(estimate && { insuranceClaim: { id: claim?.id } }),
        ...(estimate?.met && { [category === 'major' ? 'metMajor' : 'metBasic']: estimate.met / 100 }),
      },
    });
    return { charge, estimate, own: estimate === null ? fee : fee - estimate.writeOff - estimate.insurance };
  });
}

/** A charge entered by mistake and cancelled. */
function enterMistake(ledger: HouseholdLedger, [first]: readonly Charged[]): void {
  if (first === undefined) return;
  const fields = { patientProcedure: { id: ledger.practice.nextId('PatientProcedure') } };
  ledger.add({ ...first.charge, note: 'Entered in error', fields }).active = false;
}

/** Takes ten percent off charges that no plan covers. */
function giveDiscount(ledger: HouseholdLedger, charged: readonly Charged[]): void {
  const applied = charged.map(({ charge, own }) => ({ charge, cents: tenth(own) }));
  const [first] = applied;
  if (first === undefined) return;
  const { person, provider, day, minute } = first.charge;
  ledger.add({
    ledgerType: 'PatientCreditAdjustment',
    ...{ person, provider, day, minute: minute + 1 },
    note: 'Courtesy discount',
    applied,
    fields: { transactionTags: tagged('Courtesy discount') },
  });
}

function tenth(cents: number): number {
  return Math.round(cents / 10);
}
