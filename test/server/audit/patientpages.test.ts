import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEntry, auditRow } from '../../../src/server/audit/entries.ts';
import { auditPages, exportEntries, organizationKey } from '../../../src/server/audit/export.ts';
import { patientPages } from '../../../src/server/audit/patienttrail.ts';
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
const read = () => service.service.store.read;
const AT = '2026-03-02T12:00:00.000Z';
const ACTOR = { who: 'token 0a1b', address: '192.0.2.1', requestId: 'r-1' };

type Written = Pick<AuditEntry, 'operation'> & Partial<AuditEntry>;

/** Writes entries, and returns the number of the last one. */
async function write(...entries: readonly Written[]): Promise<number> {
  const { store } = service.service;
  await store.appendLogs(entries.map((entry) => auditRow({ org: 1, at: AT, actor: ACTOR, ...entry })));
  await store.sequenceEntries();
  const row = await read().get<{ last: number }>({
    ...{ sql: "SELECT last_id AS last FROM log_heads WHERE name = 'audit'", values: [] },
    text: "SELECT last_id AS last FROM log_heads WHERE name = 'audit'",
  });
  return row?.last ?? 0;
}

/** The pages of a patient, as numbers of entries. */
async function pagesOf(patient: number, range: Parameters<typeof patientPages>[2] = {}): Promise<number[][]> {
  const pages: number[][] = [];
  for await (const page of patientPages(read(), patient, range)) pages.push(page.map(({ id }) => id));
  return pages;
}

/** Patients that no other entry tells of. */
const [SOME, MANY, TIMES, ORGS] = [7_000_001, 7_100_001, 7_200_001, 7_300_001];

beforeAll(async () => {
  service = await testService(bareRecords());
});
afterAll(() => service.close());

describe('the entries of a patient', () => {
  it('are those that name the patient, in a list or a block of many, and those of everything', async () => {
    const one = await write({ operation: 'transactions.get', ids: [1], patients: [SOME] });
    const itself = await write({ operation: 'patients.get', ids: [SOME] });
    // The same number of another kind of record, and others of the same block.
    await write({ operation: 'transactions.get', ids: [SOME] }, { operation: 'patients.get', ids: [SOME + 1] });
    const many = Array.from({ length: 40 }, (_, n) => SOME - 20 + n);
    const list = await write({ operation: 'patients.list', ids: many });
    await write({ operation: 'patients.list', ids: many.filter((id) => id !== SOME) });
    const all = await write({ operation: 'server.backup', org: null, all: true });
    expect((await pagesOf(SOME)).flat().filter((id) => id >= one)).toEqual([one, itself, list, all]);
  });

  it('are found from a time on, up to another', async () => {
    const at = (second: number) => `2026-03-03T12:00:0${second}.000Z`;
    const first = await write({ operation: 'patients.get', ids: [TIMES], at: at(1) });
    await write(
      { operation: 'patients.get', ids: [TIMES], at: at(2) },
      { operation: 'patients.get', ids: [TIMES], at: at(3) },
    );
    const found = async (range: Parameters<typeof patientPages>[2]) =>
      (await pagesOf(TIMES, range))
        .flat()
        .filter((id) => id >= first)
        .map((id) => id - first + 1);
    expect(await found({})).toEqual([1, 2, 3]);
    expect(await found({ from: at(2) })).toEqual([2, 3]);
    expect(await found({ to: at(2) })).toEqual([1]);
    expect(await found({ from: at(2), to: at(3) })).toEqual([2]);
    expect(await pagesOf(TIMES, { from: '2026-03-04' })).toEqual([]);
  });

  it('are those of one organization, or of none', async () => {
    const first = await write({ operation: 'patients.get', ids: [ORGS], org: 1 });
    await write(
      { operation: 'patients.get', ids: [ORGS], org: 2 },
      { operation: 'server.backup', org: null, all: true },
      { operation: 'async', org: 2, all: true },
    );
    const found = async (org?: number) =>
      (await pagesOf(ORGS, org === undefined ? {} : { org }))
        .flat()
        .filter((id) => id >= first)
        .map((id) => id - first + 1);
    expect(await found()).toEqual([1, 2, 3, 4]);
    expect(await found(1)).toEqual([1, 3]);
    expect(await found(2)).toEqual([2, 3, 4]);
  });

  it('come 500 at a time, in their order', async () => {
    const one = { operation: 'patients.get', ids: [MANY], at: '2026-04-01T12:00:00.000Z' };
    const last = await write(...Array.from({ length: 1001 }, () => one));
    const pages = await pagesOf(MANY, { from: '2026-04-01' });
    expect(pages.flat()).toEqual(Array.from({ length: 1001 }, (_, n) => last - 1000 + n));
    expect(Math.max(...pages.map(({ length }) => length))).toBe(500);
  });

  it('that cannot be read are damage', async () => {
    const damaged = 7_400_001;
    const last = await write({ operation: 'patients.get', ids: [damaged] });
    await tamper(service, `UPDATE audit_entries SET ids = '[1,' WHERE id = ${last}`);
    await expect(pagesOf(damaged)).rejects.toMatchObject({
      name: 'StoreUnusable',
      message: expect.stringContaining(`Entry ${last} of the audit log cannot be read`),
    });
    await tamper(service, `UPDATE audit_entries SET ids = '[${damaged}]' WHERE id = ${last}`);
    expect((await pagesOf(damaged)).flat()).toContain(last);
  });
});

describe('exported entries', () => {
  const exported = async (after: number) => {
    const entries: object[] = [];
    for await (const entry of exportEntries(read(), auditPages(read(), { after }))) entries.push(entry);
    return entries;
  };

  it('have every column as people and programs read it', async () => {
    const last = await write(
      {
        operation: 'patients.list',
        ids: [1, 2, 3],
        patients: [1, 2, 3],
        filterKeys: ['lastName', 'id'],
        via: 'stream',
      },
      {
        operation: 'refused',
        org: null,
        actor: { who: '', address: null, requestId: null },
        status: 403,
        client: 'desk',
        count: 4,
      },
      { operation: 'server.backup', org: 999, all: true },
      { operation: 'patients.list', org: 2, ids: [] },
    );
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    const said = {
      at: AT,
      who: 'token 0a1b',
      address: '192.0.2.1',
      requestId: 'r-1',
      ids: [],
      patients: [],
      filterKeys: [],
      hash,
    };
    expect(await exported(last - 4)).toEqual([
      {
        ...{ ...said, id: last - 3, organization: ORGANIZATION, operation: 'patients.list', count: 3, via: 'stream' },
        ...{ ids: [[1, 3]], patients: [[1, 3]], filterKeys: ['lastName', 'id'] },
      },
      {
        ...{ ...said, id: last - 2, organization: null, who: null, address: null, requestId: null },
        ...{ operation: 'refused', count: 4, status: 403, client: 'desk' },
      },
      { ...said, id: last - 1, organization: null, operation: 'server.backup', count: null, all: true },
      { ...said, id: last, organization: OTHER_ORGANIZATION, operation: 'patients.list', count: 0 },
    ]);
  });

  it('are all there, whatever pages they are read in', async () => {
    const last = await write(...Array.from({ length: 2001 }, () => ({ operation: 'patients.get' })));
    const ids = (await exported(last - 2001)).map((entry) => (entry as { id: number }).id);
    expect(ids).toEqual(Array.from({ length: 2001 }, (_, n) => last - 2000 + n));
  });

  it('of an organization are asked for by its id', async () => {
    expect([await organizationKey(read(), ORGANIZATION), await organizationKey(read(), OTHER_ORGANIZATION)]).toEqual([
      1, 2,
    ]);
    await expect(organizationKey(read(), '0'.repeat(24))).rejects.toMatchObject({
      problems: [{ code: 'record.not_found', source: '--for' }],
    });
  });
});
