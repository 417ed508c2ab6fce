import { transactions } from '../../catalog/resources/transactions.ts';
import { nowOf } from '../clock.ts';
import { cents } from '../money.ts';
import { noteTransaction } from '../reports/aging/ledger.ts';
import type { JsonRecord } from '../store/layout.ts';
import type { Behaviour } from './behaviour.ts';

interface StoredEstimates {
  readonly estimated_insurance_cents: number | null;
  readonly estimated_write_off_cents: number | null;
}

/** Ledger rows: read-only for clients, they come in by import (D24). */
export const transactionBehaviour: Behaviour = {
  resource: transactions,
  async complete(_read, { after, imported, service }) {
    after.isActive ??= true;
    after.isAutomaticallyPosted ??= false;
    after.isPartialPayment ??= false;
    after.distributions = (after.distributions as readonly JsonRecord[]).map((part) => ({
      ...part,
      isActive: part.isActive ?? true,
    }));
    after.entryDate ??= imported?.lastModified ?? nowOf(service);
  },
  ownValues({ imported, row }) {
    const estimate = imported?.estimate as { insurance?: number | null; writeOff?: number | null } | null | undefined;
    const kept = row as unknown as StoredEstimates | undefined;
    return {
      estimated_insurance_cents: estimate ? cents(estimate.insurance) : (kept?.estimated_insurance_cents ?? null),
      estimated_write_off_cents: estimate ? cents(estimate.writeOff) : (kept?.estimated_write_off_cents ?? null),
    };
  },
  indexed: noteTransaction,
};
