import { transactions } from '../../catalog/resources/transactions.ts';
import { cents } from '../money.ts';
import type { Behaviour } from './behaviour.ts';

/** Ledger rows come in by import only (D24). */
export const transactionBehaviour: Behaviour = {
  resource: transactions,
  async complete(_read, { after, imported, service }) {
    after.isActive ??= true;
    after.isAutomaticallyPosted ??= false;
    after.isPartialPayment ??= false;
    after.entryDate ??= imported?.lastModified ?? new Date(service.clock()).toISOString();
  },
  ownColumns({ after, imported }) {
    const estimate = imported?.estimate as { insurance?: number | null; writeOff?: number | null } | null | undefined;
    return {
      is_active: Number(after.isActive),
      amount_cents: cents(after.amount as number | null),
      estimated_insurance_cents: cents(estimate?.insurance),
      estimated_write_off_cents: cents(estimate?.writeOff),
    };
  },
};
