import { RESOURCES } from '../catalog.ts';
import type { Resource } from '../define.ts';
import type { LEDGER_TYPES } from '../resources/transactions.ts';

/** What a message of the stream reports: a change of a record, or a record that an async endpoint delivers (D40, D41). */
export const CHANGE_OPERATIONS = ['CREATE', 'UPDATE', 'DELETE'] as const;
export const DELIVERY_OPERATIONS = ['READ', 'READ_COMPLETE'] as const;

/** Tells a listener that messages it has not seen are gone: it belongs to no record, so it is written unlike the others. */
export const RESYNC = 'resync';

export type ChangeOperation = (typeof CHANGE_OPERATIONS)[number];
export type StreamOperation = ChangeOperation | (typeof DELIVERY_OPERATIONS)[number] | typeof RESYNC;

/** Stands for "no location" in a routing key and an envelope (D40). */
export const NO_LOCATION = '*';

/** The domain type of a resource's messages: its type name; every sub-type of transaction is a TransactionV1 (specification, Events). */
export function domainTypeOf({ type }: Pick<Resource, 'type'>): string {
  return type === 'Transaction' ? 'TransactionV1' : type;
}

/** Every domain type with messages: stored records, and reports that an async endpoint delivers. */
export const DOMAIN_TYPES: readonly string[] = RESOURCES.filter(
  ({ computed, operations }) => !computed || Object.values(operations).some(({ shape }) => shape === 'async'),
).map(domainTypeOf);

/** The linked field that gives a record its place on the stream; undefined where a kind has none (D40). */
export function locationFieldOf({ fields }: Pick<Resource, 'fields'>): 'location' | 'preferredLocation' | undefined {
  if (Object.hasOwn(fields, 'preferredLocation')) return 'preferredLocation';
  return Object.hasOwn(fields, 'location') ? 'location' : undefined;
}

type LedgerType = (typeof LEDGER_TYPES)[number];

/**
 * Which changes of a transaction are published (specification, Events: transaction sub-types). Payments are changed by a
 * rebill, which is a CREATE of the new row. Sub-types that the table does not list have all three.
 */
const LEDGER_OPERATIONS: Readonly<Partial<Record<LedgerType, readonly ChangeOperation[]>>> = {
  PatientChargeAdjustment: ['CREATE', 'UPDATE'],
  PatientCreditAdjustment: ['CREATE', 'UPDATE', 'DELETE'],
  InsurancePayment: ['CREATE'],
  PatientProcedurePayment: ['CREATE'],
  PatientProcedureLedger: ['CREATE', 'DELETE'],
};

/** The changes that are published of a record with this `ledgerType`; all of them for a record without one. */
export function publishedOperations(ledgerType: unknown): readonly ChangeOperation[] {
  return LEDGER_OPERATIONS[ledgerType as LedgerType] ?? CHANGE_OPERATIONS;
}
