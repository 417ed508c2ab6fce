import { expect, it } from 'vitest';
import { Deidentifier } from '../../../src/core/mirror/deidentify/deidentifier.ts';
import { recordOf } from '../../../src/core/mirror/records.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import { START } from '../../../src/core/pages/walkoptions.ts';

const deidentifier = new Deidentifier(Buffer.alloc(32, 7), () => Date.parse('2026-11-23T12:00:00Z'));

function kept(resource: string, record: string): unknown {
  return JSON.parse(deidentifier.record(findTable(resource) as MirrorTable, recordOf(record)).text);
}

/** As copies have them that are there: with other ones no sync could go on, and no join would hold. */
const PSEUDONYMS = [
  ['1', '2323626827600566'],
  ['70000000000101', '922260844715404'],
  ['9007199254740991', '3375863471203103'],
  ['9007199254740992', '1251101674794861106'],
  ['9223372036854775807', '5768334693884542556'],
] as const;

it.each(PSEUDONYMS)('of the id %s it is %s in every version, everywhere, and back', (id, pseudonym) => {
  const { id: made, text } = deidentifier.record(
    findTable('patients') as MirrorTable,
    recordOf(`{"id":${id},"referredByPatient":{"id":"${id}"},"referredPatients":[{"id":${id}}]}`),
  );
  expect(String(made)).toBe(pseudonym);
  const { referredByPatient, referredPatients } = JSON.parse(text);
  expect([String(referredByPatient.id), String(referredPatients[0].id)]).toEqual([pseudonym, pseudonym]);
  expect(deidentifier.original(pseudonym)).toBe(id);
  const progress = { ...START, lastId: id, since: '' };
  expect(deidentifier.progress(progress)).toEqual({ ...progress, lastId: pseudonym });
  expect(deidentifier.originalProgress({ ...progress, lastId: pseudonym })).toEqual(progress);
});

it('is told from others by its key, and groups by theirs', () => {
  expect(deidentifier.fingerprint).toBe('a9eb69f8232c4591b07d0a8790bef3af');
  expect(kept('events', '{"id":1,"groupId":"abc"}')).toMatchObject({ groupId: '45ede316edbbc3202ab0bc7b47dd1fde' });
  expect(kept('events', '{"id":1,"groupId":{"id":"abc"}}')).toMatchObject({ groupId: null });
  expect(() => deidentifier.original('Ann')).toThrow('is no pseudonym');
  for (const id of ['a1', '1a', '1 ', '12345678901234567890'])
    expect(() => deidentifier.original(id)).toThrow('is no pseudonym');
  expect(
    kept(
      'patients',
      '{"id":5,"preferredLocation":{"id":"a1"},"primaryProvider":{"id":"1a"},"primaryContact":{"id":0}}',
    ),
  ).toMatchObject({
    ...{ preferredLocation: { id: null }, primaryProvider: { id: null }, primaryContact: { id: null } },
  });
  expect(() => deidentifier.original('0')).toThrow('is no pseudonym');
  const start = { ...START, since: '' };
  expect([deidentifier.progress(start), deidentifier.originalProgress(start)]).toEqual([start, start]);
});

it('keeps a list without the entries of which nothing is kept, and a map by its order', () => {
  const billing = '"patientPaymentBilling":{"checkNumber":"5","bankNumber":"6","referenceNumber":"7"}';
  const lists = '"transactionTags":{"1":{"id":5},"Ann":{"id":6}},"reasonTags":{"3":{"id":"x"}}';
  const distributions = '"distributions":[{"chargeId":9,"appliedAmount":1.5,"isActive":true},{},"Ann"]';
  expect(kept('transactions', `{"id":1,"amount":"12.50","isActive":1,${billing},${lists},${distributions}}`)).toEqual({
    id: 2323626827600566,
    amount: '12.50',
    isActive: null,
    patientPaymentBilling: { checkNumber: null, bankNumber: null, referenceNumber: null },
    transactionTags: { 1: { id: 3239014461579060 }, entry2: { id: 2955167740953774 } },
    reasonTags: {},
    distributions: [{ chargeId: 8924286413535717, appliedAmount: 1.5, isActive: true }],
  });
  expect(kept('transactions', '{"id":1,"distributions":[{"chargeId":9,"appliedAmount":"much"}]}')).toMatchObject({
    distributions: [{ chargeId: 8924286413535717, appliedAmount: null, isActive: null }],
  });
  expect(kept('events', '{"id":1,"recurrenceDays":["MONDAY","on Ann\'s day"],"allDay":"x","duration":"30"}')).toEqual({
    ...{ id: 2323626827600566, duration: '30', allDay: null, recurrenceDays: ['MONDAY'] },
  });
  expect(kept('transactions', '{"id":1,"reasonTags":null,"distributions":"Ann"}')).toMatchObject({
    ...{ reasonTags: null, distributions: null },
  });
});

it('keeps of a change what is kept of its record, as of the beginning of its year', () => {
  const table = findTable('patients') as MirrorTable;
  const change = { table, id: '1', operation: 'UPDATE', at: '2026-11-22T05:00:00.123Z' } as const;
  const made = deidentifier.change({ ...change, payload: '{"id":1,"lastName":"Miller","state":"CO"}' });
  expect({ ...made, payload: JSON.parse(made.payload) }).toEqual({
    ...{ table, id: '2323626827600566', operation: 'UPDATE', at: '2026-01-01T00:00:00.000Z' },
    payload: { id: 2323626827600566, lastName: null, state: 'CO' },
  });
});

it('a load begins anew behind an id that is none, and a pseudonym stays the same however many there are', () => {
  const since = '2026-01-01T00:00:00.000Z';
  const of = (lastId: string) => deidentifier.progress({ lastId, fetched: 1, since }).lastId;
  expect([of('0'), of('none'), of('1')]).toEqual(['0', '0', '2323626827600566']);
  for (let id = 2; id <= 60_000; id++) of(String(id));
  expect(of('1')).toBe('2323626827600566');
});
