import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Service } from '../../../../src/server/service.ts';
import { rowOf, type WireRecord } from '../../../support/calls.ts';
import { big, LOCATIONS, PATIENTS } from '../../../support/ids.ts';
import { line } from '../../../support/practice.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { everythingOf, importInParts, triedTwice } from './stores.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService();
  service.clock.advance(60_000);
});
afterEach(() => service.close());

/** A service that does something before its write of that number: the first one decides, the others publish parts. */
function beforeWrite(number: number, work: () => Promise<unknown>, own = service.service): Service {
  const { store } = own;
  let left = number;
  return {
    ...own,
    store: {
      ...store,
      async write(written, org) {
        if (--left === 0) await work();
        return store.write(written, org);
      },
    },
  };
}

const person = (id: number, more: WireRecord = {}) =>
  line('PatientV1', { id, firstName: 'Imported', lastName: `P${id % 10}`, ...more });
const created = async () => {
  const body = {
    ...{ firstName: 'Written', lastName: 'Meanwhile', gender: 'F', dateOfBirth: '1980-02-29', patientStatus: 'ACTIVE' },
    ...{ contactMethod: 'Email me', languageType: 'English', preferredLocation: { id: LOCATIONS.east } },
    ...{ address1: '1 Main St', city: 'Denver', state: 'CO', postalCode: '80014' },
  };
  return rowOf(await service.call('POST', '/patients', { body })).id as number;
};
const patientOf = async (id: number) => rowOf(await service.call('GET', `/patients/${id}`));

it('a record that a request makes under an id of the import before the decision is replaced (D58)', async () => {
  const next = (await created()) + 1;
  let id = 0;
  const during = beforeWrite(1, async () => {
    id = await created();
  });
  await importInParts(during, [person(next), person(next + 1), person(next + 2), person(next + 3)]);
  expect(id).toBe(next);
  expect(await patientOf(next)).toMatchObject({ firstName: 'Imported' });
});

it('nobody gets an id of the import once it is decided (D58)', async () => {
  const next = (await created()) + 1;
  const ids = [next, next + 1, next + 2, next + 3, next + 40];
  let id = 0;
  const during = beforeWrite(2, async () => {
    id = await created();
  });
  await importInParts(
    during,
    ids.map((own) => person(own)),
  );
  expect(id).toBe(next + 41);
  expect(await patientOf(id)).toMatchObject({ firstName: 'Written' });
});

it('a change of a record that the import brings, too, counts until its part is published (D58)', async () => {
  const change = () => service.call('PUT', `/patients/${PATIENTS.bob}`, { body: { city: 'Meanwhile' } });
  await importInParts(beforeWrite(2, change), [person(PATIENTS.ann), person(PATIENTS.bob)]);
  expect(await patientOf(PATIENTS.bob)).toMatchObject({ firstName: 'Imported', city: null });
});

it('a referral that a request changes meanwhile leaves no list of referred patients behind (D58)', async () => {
  const change = () =>
    service.call('PUT', `/patients/${PATIENTS.bob}`, { body: { referredByPatient: { id: PATIENTS.cleo } } });
  await importInParts(beforeWrite(1, change), [person(PATIENTS.bob, { referredByPatient: { id: PATIENTS.ann } })]);
  expect(await patientOf(PATIENTS.cleo)).toMatchObject({ referredPatients: [] });
  expect((await patientOf(PATIENTS.ann)).referredPatients).toContainEqual({ id: PATIENTS.bob });
});

it('a tag that got the text of an imported one meanwhile refuses the import, which leaves nothing (D58)', async () => {
  const own = { tagText: 'taken', tagType: 'PAYMENT_TAG', isPredefined: false };
  // The transaction is tried again, and its problems count once.
  const post = () => service.call('POST', '/transactiontags', { body: own });
  const during = beforeWrite(1, post, triedTwice(service.service));
  // Of two lines for a record the last one is at fault.
  const tag = (tagText: string) => line('TransactionTagV1', { id: big(9200), ...own, tagText });
  const records = [person(big(9100)), tag('free'), tag('taken')];
  await expect(importInParts(during, records)).rejects.toMatchObject({
    message: 'The import has one problem; nothing was imported.',
    problems: [{ line: 3 }],
  });
  const found = await everythingOf(service);
  expect(JSON.stringify([found.patients, found.imports, found.import_lines])).not.toContain('9100');
  expect(found.imports).toEqual([]);
});
