import { FIRST_ID } from '../ids.ts';
import type { Practice } from '../practice.ts';
import type { DemoRecord } from '../record.ts';

const TAGS = [
  { tagText: 'Cash', tagType: 'PAYMENT_TAG', isPredefined: true },
  { tagText: 'Check', tagType: 'PAYMENT_TAG', isPredefined: true },
  { tagText: 'Credit card', tagType: 'PAYMENT_TAG', isPredefined: true },
  { tagText: 'Online payment', tagType: 'PAYMENT_TAG', isPredefined: false },
  { tagText: 'Care financing', tagType: 'PAYMENT_TAG', isPredefined: false },
  { tagText: 'Insurance write-off', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
  { tagText: 'Courtesy discount', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
  { tagText: 'Missed visit fee', tagType: 'ADJUSTMENT_TAG', isPredefined: false },
  { tagText: 'Uncollectible', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
  { tagText: 'Refund', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
  { tagText: 'Transfer to guarantor', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
] as const;

export type TagText = (typeof TAGS)[number]['tagText'];

/** A transaction's tags by order index (D24). */
export function tagged(...texts: readonly TagText[]): Record<string, { id: number }> {
  const entries = texts.map((text, index) => {
    const at = TAGS.findIndex(({ tagText }) => tagText === text);
    return [String(index + 1), { id: FIRST_ID.TransactionTagV1 + at }] as const;
  });
  return Object.fromEntries(entries);
}

/** The organization's transaction tags (specification, Transaction tag). */
export function* tagRecords({ organizationId }: Practice): Generator<DemoRecord> {
  for (const [index, tag] of TAGS.entries()) {
    yield { type: 'TransactionTagV1', organizationId, id: FIRST_ID.TransactionTagV1 + index, ...tag };
  }
}
