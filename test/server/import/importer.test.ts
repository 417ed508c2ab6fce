import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import sql from 'sql-template-tag';
import { describe, expect, it, vi } from 'vitest';
import { importRecords } from '../../../src/server/import/importer.ts';
import { numberRecords } from '../../../src/server/import/lines.ts';
import { entriesOf } from '../../contract/trail.ts';
import { idsOf, rowOf, type WireRecord } from '../../support/calls.ts';
import { dump } from '../../support/dump.ts';
import { big, LOCATIONS, OPERATORIES, OTHER_ORGANIZATION, PATIENTS, PROVIDERS } from '../../support/ids.ts';
import { allRecords, bareRecords, line, organizationRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';
import { cases } from '../../support/store.ts';
import { allMessages } from '../stream/told.ts';

const patient = (id: number, record: Readonly<Record<string, unknown>> = {}) =>
  line('PatientV1', { id, firstName: 'Imported', lastName: 'Patient', ...record });
const visit = (id: number, record: Readonly<Record<string, unknown>> = {}) =>
  line('AppointmentV1', {
    id,
    start: '2026-01-15T09:00:00',
    patient: { id: PATIENTS.ann },
    provider: { id: PROVIDERS.ann },
    operatory: { id: OPERATORIES.one },
    ...record,
  });

describe('an import', () => {
  it('gives the same result in any order of its lines (property)', async () => {
    const local = [
      visit(big(3001)),
      visit(big(3002), { operatory: { id: OPERATORIES.three } }),
      patient(big(3003), { firstVisitDate: '2026-01-15T09:00:00' }),
      patient(big(3004), { referredByPatient: { id: PATIENTS.ann }, primaryGuarantor: { id: big(3003) } }),
    ];
    // References to a location of another zone come with the other organization's own lines.
    const records = [...allRecords(), ...local];
    const first = await testService(records);
    const expected = await dump(first.service);
    await first.close();
    expect(expected.patients?.length).toBeGreaterThan(5);
    const orders = fc.shuffledSubarray(records, { minLength: records.length });
    await fc.assert(
      fc.asyncProperty(orders, async (shuffled) => {
        const service = await testService(shuffled);
        const found = await dump(service.service).finally(service.close);
        expect(found).toEqual(expected);
      }),
      { numRuns: cases(4, 2), examples: [[records.toReversed()]], endOnFailure: true },
    );
  });

  it('gives the same result when it is done twice', async () => {
    const service = await testService();
    const files = async () => (await readdir(join(service.path, 'files'), { recursive: true })).sort();
    const once = [await dump(service.service), await files()];
    await service.import(allRecords());
    expect([await dump(service.service), await files()]).toEqual(once);
    await service.close();
  });

  it('that is not to be told leaves the same records, no message, and entries of tokens alone', async () => {
    const claim = (id: number) => line('InsuranceClaim', { id: 5, patient: { id } });
    const records = [
      ...[...allRecords(), patient(1), patient(2, { referredByPatient: { id: 1 } }), claim(1), claim(2)],
      ...[line('InsuranceClaim', { id: 5, deleted: true }), line('PatientV1', { id: 2, deleted: true })],
    ];
    const [told, untold] = [await testService(records), await testService([])];
    const entries = await entriesOf(untold, () =>
      importRecords(untold.service, () => numberRecords(records), { unpublished: true }),
    );
    expect(await dump(untold.service)).toEqual(await dump(told.service));
    expect(await allMessages(untold)).toEqual([]);
    expect([...new Set(entries.map(({ operation }) => operation))]).toEqual(['tokens.create']);
    await told.close();
    await untold.close();
  });

  it.each([
    ['at once', []],
    ['in parts', bareRecords()],
  ])('gives memory and space of the journal back, %s', async (_name, first) => {
    const { service, close } = await testService(first);
    const tidy = vi.fn(service.store.tidy);
    await importRecords({ ...service, store: { ...service.store, tidy } }, () => numberRecords(organizationRecords()));
    expect(tidy).toHaveBeenCalledOnce();
    await close();
  });

  it('counts what it did', async () => {
    const service = await testService([]);
    const summary = await service.import([...bareRecords(), line('Referral', { id: 1, deleted: true })]);
    expect(summary).toEqual({
      imported: {
        Organization: 2,
        AccessToken: 8,
        Location: 5,
        Provider: 5,
        Operatory: 4,
        PatientV1: 4,
        PerioExam: 3,
        Referral: 3,
        DiscountPlan: 2,
        BillingType: 4,
        InsuranceClaim: 3,
      },
      deleted: 1,
    });
    await service.close();
  });
});

describe('upserts', () => {
  it('replace the whole record', async () => {
    const service = await testService();
    await service.import([patient(PATIENTS.bob)]);
    const row = rowOf(await service.call('GET', `/patients/${PATIENTS.bob}`));
    expect(row).toMatchObject({
      firstName: 'Imported',
      phones: [],
      chartNumber: null,
      primaryGuarantor: { id: PATIENTS.bob },
    });
    expect(row.lastModified).toBe(service.clock.text());
    expect(idsOf(await service.call('GET', '/patients', { query: { filter: 'phones.number==18015550101' } }))).toEqual(
      [],
    );
    await service.close();
  });

  it('keep the dates they bring, and otherwise take the time of import', async () => {
    const service = await testService(bareRecords());
    await service.import([
      patient(1, { lastModified: '2020-05-05T05:05:05Z', firstVisitDate: '2019-01-01T00:00:00Z' }),
      patient(2),
    ]);
    const [first, second] = [
      rowOf(await service.call('GET', '/patients/1')),
      rowOf(await service.call('GET', '/patients/2')),
    ];
    expect(first).toMatchObject({
      lastModified: '2020-05-05T05:05:05.000Z',
      firstVisitDate: '2019-01-01T00:00:00.000Z',
    });
    expect(second).toMatchObject({ lastModified: service.clock.text(), firstVisitDate: null });
    await service.close();
  });

  it('replace an organization, and a record that others only link to', async () => {
    const organization = { type: 'Organization', id: OTHER_ORGANIZATION, timezone: 'UTC', createdDate: '2021-01-01' };
    const claim = (more: WireRecord) => line('InsuranceClaim', { id: 5, patient: { id: PATIENTS.ann }, ...more });
    const before = [
      claim({ status: 'PENDING' }),
      { organizationId: OTHER_ORGANIZATION, ...organization, id: undefined },
    ];
    const lines = [
      claim({ patient: { id: PATIENTS.bob } }),
      { ...organization, timezone: 'Asia/Tokyo', name: 'Farther' },
    ];
    const [atOnce, inParts] = [
      await testService([...bareRecords(), ...before, ...lines]),
      await testService([...bareRecords(), ...before]),
    ];
    await inParts.import(lines);
    for (const { service, close } of [atOnce, inParts]) {
      const { read } = service.store;
      const found = await read.all(sql`SELECT name, timezone, created_date FROM organizations ORDER BY org`);
      const created_date = '2020-12-31T15:00:00.000Z';
      expect(found.slice(1)).toEqual([{ name: 'Farther', timezone: 'Asia/Tokyo', created_date }]);
      const claims = sql`SELECT filed_under FROM reference_records WHERE type = 'InsuranceClaim' AND id = 5`;
      expect(await read.all(claims)).toEqual([{ filed_under: null }]);
      await close();
    }
  });

  it('keep organizations apart', async () => {
    const service = await testService([...organizationRecords(), ...bareRecords()]);
    const tag = (id: number, organization?: string) =>
      line('TransactionTagV1', { id, tagText: 'Same', tagType: 'PAYMENT_TAG' }, organization);
    await service.import([
      line('PatientV1', { id: PATIENTS.ann, firstName: 'Other', lastName: 'One' }, OTHER_ORGANIZATION),
      ...[tag(1), tag(2, OTHER_ORGANIZATION)],
    ]);
    expect(idsOf(await service.call('GET', '/transactiontags'))).toEqual([1]);
    expect(rowOf(await service.call('GET', `/patients/${PATIENTS.ann}`))).toMatchObject({
      firstName: 'ann',
      preferredLocation: { id: LOCATIONS.east },
    });
    await service.close();
  });
});
