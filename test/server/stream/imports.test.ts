import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFolder } from '../../../src/server/datafolder.ts';
import { importRecords } from '../../../src/server/import/importer.ts';
import { numberRecords } from '../../../src/server/import/lines.ts';
import type { WireRecord } from '../../support/calls.ts';
import { LOCATIONS, ORGANIZATION, PATIENTS, PROVIDERS } from '../../support/ids.ts';
import { allRecords, bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { allMessages, told } from './told.ts';

const { east, west } = LOCATIONS;
const MODIFIED = '2026-02-10T16:00:00.000Z';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
  service.clock.advance(60_000);
});
afterEach(() => service.close());

const importing = (...records: WireRecord[]) => told(service, () => service.import(records));

const row = (id: number, ledgerType: string, changes: WireRecord = {}) =>
  line('Transaction', {
    id,
    ledgerType,
    amount: ledgerType.endsWith('Payment') ? -10 : 10,
    transactionDate: '2026-03-01',
    patient: { id: PATIENTS.ann },
    location: { id: east },
    entryDate: MODIFIED,
    lastModified: MODIFIED,
    ...changes,
  });
const gone = (type: string, id: number) => line(type, { id, deleted: true });

describe('transactions (specification, Events: transaction sub-types)', () => {
  // What the stream tells of a new row, of one that is changed in place, and of one that is deleted.
  it.each([
    ['PatientChargeAdjustment', true, true, false],
    ['PatientCreditAdjustment', true, true, true],
    ['InsurancePayment', true, false, false],
    ['PatientProcedurePayment', true, false, false],
    ['PatientProcedureLedger', true, false, true],
    ['InsuranceRefundAdjustment', true, true, true],
    ['PatientCreditCardRefund', true, true, true],
    ['PatientCreditCardVoid', true, true, true],
  ])('%s: CREATE %s, UPDATE %s, DELETE %s', async (ledgerType, create, update, remove) => {
    const created = await importing(row(1, ledgerType));
    expect(created).toEqual(
      create ? [[`${east}.TransactionV1.CREATE`, expect.objectContaining({ id: 1, ledgerType, isActive: true })]] : [],
    );
    const note = { note: 'n', lastModified: '2026-03-02T10:00:00.000Z' };
    expect(await importing(row(1, ledgerType, note))).toEqual(
      update ? [[`${east}.TransactionV1.UPDATE`, { id: 1, type: 'Transaction', ledgerType, ...note }]] : [],
    );
    expect(await importing(gone('Transaction', 1))).toEqual(
      remove ? [[`${east}.TransactionV1.DELETE`, { id: 1, ledgerType }]] : [],
    );
  });

  it.each(['PatientChargeAdjustment', 'PatientCreditAdjustment', 'InsurancePayment', 'PatientProcedurePayment'])(
    'a rebill of %s is a CREATE of the new row, and nothing of the original (D25)',
    async (ledgerType) => {
      await importing(row(1, ledgerType));
      expect(await importing(row(2, ledgerType, { previousTransaction: { id: 1 }, location: { id: west } }))).toEqual([
        [
          `${west}.TransactionV1.CREATE`,
          expect.objectContaining({ id: 2, ledgerType, previousTransaction: { id: 1 }, replacedByTransaction: null }),
        ],
      ]);
    },
  );

  it('an original that comes with its rebill is told of as it is in the end', async () => {
    const rebill = row(2, 'InsurancePayment', { previousTransaction: { id: 1 } });
    const created = await importing(rebill, row(1, 'InsurancePayment'));
    expect(
      created.map(([key, { id, isActive, replacedByTransaction }]) => [key, id, isActive, replacedByTransaction]),
    ).toEqual([
      [`${east}.TransactionV1.CREATE`, 2, true, null],
      [`${east}.TransactionV1.CREATE`, 1, false, { id: 2 }],
    ]);
  });
});

describe('many new records of a kind, one after another', () => {
  const places = [west, east];
  const reasons = (count: number, first = 1) =>
    Array.from({ length: count }, (_, index) =>
      line('ScheduleTemplateReasonV1', {
        id: first + index,
        reason: `reason ${first + index}`,
        durationMinutes: 30,
        location: { id: places[index % 2] },
      }),
    );
  const expected = (records: readonly WireRecord[]) =>
    records.map(({ id, location }) => [`${(location as { id: number }).id}.ScheduleTemplateReasonV1.CREATE`, id]);
  const inShort = (messages: Awaited<ReturnType<typeof importing>>) => messages.map(([key, { id }]) => [key, id]);

  it('are told of in the order of their lines, behind tags', async () => {
    const [first, second] = [reasons(450), reasons(300, 1000)];
    const tag = (id: number) =>
      line('TransactionTagV1', { id, tagText: `tag ${id}`, tagType: 'PAYMENT_TAG', isPredefined: false });
    // 500 comes after a higher id, 450 is told of where it first stood.
    const late = { ...(first[449] as WireRecord), id: 500, reason: 'late' };
    const changed = { ...(first[449] as WireRecord), reason: 'changed' };
    const created = await importing(tag(1), ...first, tag(2), ...second, late, changed, tag(3));
    expect(inShort(created)).toEqual([
      ...[1, 2, 3].map((id) => ['*.TransactionTagV1.CREATE', id]),
      ...expected([...first, ...second, late]),
    ]);
    expect(created.filter(([, { id }]) => id === 450).map(([, { reason }]) => reason)).toEqual(['changed']);
    expect(created[9]?.[1]).toEqual({ type: 'ScheduleTemplateReasonV1', ...reasons(7)[6], organizationId: undefined });
    // Each organization's messages count from 1, whatever others stand between them.
    const counted = new Map<string, number>();
    for (const { organizationId, id } of await allMessages(service)) {
      expect(id).toBe((counted.get(organizationId) ?? 0) + 1);
      counted.set(organizationId, id);
    }
    expect(counted.size).toBe(2);
  });

  it('are told of without those that a later line deletes', async () => {
    const records = reasons(400);
    const created = await importing(...records, gone('ScheduleTemplateReasonV1', 7));
    expect(inShort(created)).toEqual(expected(records.filter(({ id }) => id !== 7)));
  });

  it('are told of where their location is of no column', async () => {
    const histories = Array.from({ length: 250 }, (_, index) =>
      line('AppointmentHistoryV1', { id: index + 1, action: 'CREATE', location: { id: places[index % 2] } }),
    );
    expect(inShort(await importing(...histories))).toEqual(
      histories.map(({ id }, index) => [`${places[index % 2]}.AppointmentHistoryV1.CREATE`, id]),
    );
  });
});

describe('an import', () => {
  it('is told of in the order of its lines, tags first and a record once', async () => {
    const tag = (id: number, tagText: string) =>
      line('TransactionTagV1', { id, tagText, tagType: 'PAYMENT_TAG', isPredefined: false });
    const reason = (id: number, text: string) =>
      line('ScheduleTemplateReasonV1', { id, reason: text, durationMinutes: 30, location: { id: west } });
    const created = await importing(tag(5, 'five'), reason(9, 'exam'), tag(4, 'four'), tag(5, 'FIVE'));
    expect(created.map(([key, { id, tagText }]) => [key, id, tagText])).toEqual([
      ['*.TransactionTagV1.CREATE', 5, 'FIVE'],
      ['*.TransactionTagV1.CREATE', 4, 'four'],
      [`${west}.ScheduleTemplateReasonV1.CREATE`, 9, undefined],
    ]);
    expect(
      await importing(tag(4, 'IV'), gone('ScheduleTemplateReasonV1', 9), tag(6, 'six'), gone('TransactionTagV1', 6)),
    ).toEqual([
      ['*.TransactionTagV1.UPDATE', { id: 4, tagText: 'IV' }],
      [`${west}.ScheduleTemplateReasonV1.DELETE`, { id: 9 }],
    ]);
  });

  it('tells of every kind of record, and done again it tells nothing', async () => {
    const all = await testService([]);
    await all.import(allRecords());
    const first = await allMessages(all);
    expect([...new Set(first.map(({ domainType, operation }) => `${domainType}.${operation}`))].sort()).toEqual([
      'AppointmentHistoryV1.CREATE',
      'AppointmentV1.CREATE',
      'DocumentV1.CREATE',
      'EventV1.CREATE',
      'ImageAttachmentV1.CREATE',
      'MissedAppointmentV1.CREATE',
      'PatientInsurancePlanV1.CREATE',
      'PatientV1.CREATE',
      'ScheduleTemplateReasonV1.CREATE',
      'TransactionTagV1.CREATE',
      'TransactionV1.CREATE',
    ]);
    await all.import(allRecords());
    expect(await allMessages(all)).toHaveLength(first.length);
    await all.close();
  });

  it('tells of a patient that another one names as the referrer', async () => {
    const cal = line('PatientV1', {
      id: 7,
      firstName: 'Cal',
      lastName: 'Cole',
      preferredLocation: { id: west },
      referredByPatient: { id: PATIENTS.ann },
      lastModified: MODIFIED,
    });
    expect(await importing(cal)).toEqual([
      [`${west}.PatientV1.CREATE`, expect.objectContaining({ id: 7, referredByPatient: { id: PATIENTS.ann } })],
      [`${east}.PatientV1.UPDATE`, { id: PATIENTS.ann, referredPatients: [{ id: 7 }] }],
    ]);
    expect(await importing(gone('PatientV1', 7))).toEqual([
      [`${west}.PatientV1.DELETE`, { id: 7 }],
      [`${east}.PatientV1.UPDATE`, { id: PATIENTS.ann, referredPatients: [] }],
    ]);
  });

  it('writes records only, no history and nothing missed (D26)', async () => {
    const visit = line('AppointmentV1', {
      id: 3,
      start: '2026-03-01T15:00:00Z',
      status: 'BROKEN',
      patient: { id: PATIENTS.ann },
      provider: { id: PROVIDERS.ann },
      operatory: { id: 70_000_000_000_023 },
      location: { id: west },
    });
    expect((await importing(visit)).map(([key]) => key)).toEqual([`${west}.AppointmentV1.CREATE`]);
  });

  it('that is refused tells nothing', async () => {
    const dangling = row(1, 'InsurancePayment', { patient: { id: 4711 } });
    expect(await told(service, () => expect(service.import([dangling])).rejects.toThrow())).toEqual([]);
  });
});

describe('a data folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-told-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('keeps what was imported while no server ran, for the next one to tell', async () => {
    const offline = await openFolder(folder, { serving: false });
    await importRecords(offline.service, () => numberRecords(bareRecords()));
    await offline.close();
    const server = await openFolder(folder, { serving: true });
    const page = await allMessages(server);
    await server.close();
    expect(page.map(({ routingKey }) => routingKey)).toContain(`${ORGANIZATION}.${east}.PatientV1.CREATE`);
  });

  it('that is filled with what is not to be told, as with demo data, begins its stream behind it', async () => {
    const server = await openFolder(folder, { serving: true });
    await importRecords(server.service, () => numberRecords(bareRecords()), { unpublished: true });
    expect(await allMessages(server)).toEqual([]);
    await server.close();
  });
});
