import { dateText, instantText, utcStart } from '../calendar.ts';
import type { Household } from '../people.ts';
import type { Practice } from '../practice.ts';
import type { DemoRecord } from '../record.ts';
import type { Entry } from './entries.ts';

/** One ledger row in dollars (specification, Transaction; D24), with the estimate of a charge (contract §7). */
export function transactionRecord(practice: Practice, { home }: Household, entry: Entry): DemoRecord {
  const { person, previous, replacedBy, estimate, applied = [] } = entry;
  const entered = enteredAt(practice, home, entry);
  const changed = replacedBy === null ? entered : enteredAt(practice, home, replacedBy);
  return {
    type: 'Transaction',
    organizationId: practice.organizationId,
    id: entry.id,
    ledgerType: entry.ledgerType,
    amount: entry.cents / 100,
    ownership: entry.byGuarantor === true ? 'GUARANTOR' : 'PATIENT',
    transactionDate: dateText(entry.day),
    entryDate: instantText(entered),
    lastModified: instantText(changed),
    isAutomaticallyPosted: entry.automatic === true,
    isActive: entry.active,
    isPartialPayment: entry.partial === true,
    patient: { id: person.id },
    location: { id: home.location.id },
    provider: { id: entry.provider },
    ...(entry.note !== undefined && { note: entry.note }),
    ...entry.fields,
    ...(previous !== null && { previousTransaction: { id: previous.id } }),
    ...(replacedBy !== null && { replacedByTransaction: { id: replacedBy.id } }),
    ...(applied.length > 0 && {
      distributions: applied.map(({ charge, cents }) => ({
        chargeId: charge.id,
        appliedAmount: cents / 100,
        isActive: entry.active,
      })),
    }),
    ...(estimate !== null && { estimate: { insurance: estimate.insurance / 100, writeOff: estimate.writeOff / 100 } }),
  };
}

/** In the west the evening of yesterday is today in UTC: nothing is entered later than the start of today. */
function enteredAt(practice: Practice, home: Household['home'], { day, minute }: Entry): number {
  return Math.min(home.location.clock.at(day, minute), utcStart(practice.today) - 1);
}
