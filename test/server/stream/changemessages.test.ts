import { expect, it } from 'vitest';
import { events } from '../../../src/catalog/resources/events.ts';
import { transactions } from '../../../src/catalog/resources/transactions.ts';
import type { Reader } from '../../../src/server/store/store.ts';
import { type Change, messageOf, placesOfChange } from '../../../src/server/stream/changemessages.ts';

const AT = '2026-03-02T12:00:00.000Z';
const EARLIER = '2026-01-01T00:00:00.000Z';

type Fields = Readonly<Record<string, unknown>>;

function change(before: Fields | undefined, after: Fields | undefined, more: Partial<Change> = {}): Change {
  const change = { organization: { org: 3, id: 'o' }, resource: transactions, before, after, at: AT, ...more };
  return change as Change;
}

const CHARGE = {
  ...{ id: 7, type: 'TransactionV1', ledgerType: 'PatientChargeAdjustment', amount: 5, location: { id: 4 } },
  ...{ isActive: true, replacedByTransaction: null, lastModified: EARLIER },
};
const { amount: _, ...WITHOUT_AMOUNT } = CHARGE;
const REPLACED = { isActive: false, replacedByTransaction: { id: 8 }, lastModified: AT };
const IDS = { id: 7, type: 'TransactionV1', ledgerType: 'PatientChargeAdjustment' };

it.each<[string, Fields | undefined, Fields | undefined, string | undefined, Fields?]>([
  ['that is new', undefined, CHARGE, 'CREATE', CHARGE],
  [
    'that changes',
    CHARGE,
    { ...CHARGE, amount: 6, lastModified: AT },
    'UPDATE',
    { ...IDS, amount: 6, lastModified: AT },
  ],
  [
    'that changes twice in a millisecond',
    { ...CHARGE, lastModified: AT },
    { ...CHARGE, amount: 6, lastModified: AT },
    'UPDATE',
    { ...IDS, amount: 6, lastModified: AT },
  ],
  ['that gets a field', WITHOUT_AMOUNT, CHARGE, 'UPDATE', { ...IDS, amount: 5 }],
  ['that stays', CHARGE, { ...CHARGE, location: { id: 4 } }, undefined],
  ['that never was', undefined, undefined, undefined],
  ['that is replaced', CHARGE, { ...CHARGE, ...REPLACED }, undefined],
  [
    'that is replaced and changes',
    CHARGE,
    { ...CHARGE, ...REPLACED, amount: 6 },
    'UPDATE',
    { ...IDS, ...REPLACED, amount: 6 },
  ],
  [
    'that is replaced no more',
    { ...CHARGE, ...REPLACED },
    CHARGE,
    'UPDATE',
    { ...IDS, isActive: true, replacedByTransaction: null, lastModified: EARLIER },
  ],
  ['that is inactive', CHARGE, { ...CHARGE, isActive: false }, 'UPDATE', { ...IDS, isActive: false }],
  ['that goes, of a kind that does not', CHARGE, undefined, undefined],
  [
    'that goes',
    { ...CHARGE, ledgerType: 'PatientProcedureLedger' },
    undefined,
    'DELETE',
    { id: 7, ledgerType: 'PatientProcedureLedger' },
  ],
])('a transaction %s is told of as that', (_name, before, after, operation, payload) => {
  const message = messageOf(change(before, after));
  expect(message && { ...message, payload: JSON.parse(message.payload) }).toEqual(
    operation && {
      ...{ org: 3, sendTime: AT, correlationId: null, payload },
      key: { organizationId: 'o', locationId: '4', domainType: 'TransactionV1', operation },
    },
  );
});

it('the text of a new record is what it was stored as, and of nothing else', () => {
  const json = '{"id":7,"as":"stored"}';
  expect(messageOf(change(undefined, CHARGE, { json }))?.payload).toBe(json);
  expect(messageOf(change(CHARGE, { ...CHARGE, isActive: false }, { json }))?.payload).toContain('"isActive":false');
});

it.each<[string, Fields | undefined, Fields | undefined, string, boolean?]>([
  ['is new', undefined, { id: 1, location: { id: 4 } }, '4'],
  ['goes', { id: 1, location: { id: 4 } }, undefined, '4'],
  ['changes where it is', { id: 1, location: { id: 4 } }, { id: 1, location: { id: 4 }, title: 'x' }, '4'],
  ['moves', { id: 1, location: { id: 4 } }, { id: 1, location: { id: 5 } }, '4>5', true],
  ['is nowhere any more', { id: 1, location: { id: 4 } }, { id: 1, location: null }, '4>', true],
  ['is somewhere at last', { id: 1, location: null }, { id: 1, location: { id: 4 } }, '>4', true],
])('the places of an event that %s are where it was and is', async (_name, before, after, places, isWhole = false) => {
  const read = {} as Reader;
  const given = change(before, after, { resource: events });
  expect(await placesOfChange(read, given)).toEqual({ places, record: isWhole ? JSON.stringify(after) : null });
  if (isWhole) expect(await placesOfChange(read, { ...given, json: '{}' })).toEqual({ places, record: '{}' });
});
