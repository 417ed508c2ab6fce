import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyLog } from '../../../src/server/audit/verify.ts';
import { hashAfter, problemsOf, rawEntries, rehash, writeEntry } from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;

beforeEach(async () => {
  service = await testService(bareRecords());
  for (let n = 0; n < 5; n++) await writeEntry(service);
});
afterEach(() => service.close());

describe('the chain', () => {
  it('is made of hashes over the one before, the number and the values in the order of the columns', async () => {
    let before = '';
    for (const row of await rawEntries(service)) {
      expect(row.hash).toBe(hashAfter(before, row));
      before = row.hash;
    }
    expect(before).not.toBe('');
  });

  it('has no entry of a write that failed', async () => {
    const before = await rawEntries(service);
    const body = { tagText: '', isPredefined: false, tagType: 'NONE' };
    expect((await service.call('POST', '/transactiontags', { body })).status).toBe(400);
    expect(await rawEntries(service)).toHaveLength(before.length);
  });

  it('is whole after writes, reads and a restart', async () => {
    const data = await mkdtemp(join(tmpdir(), 'molar-audit-'));
    const first = await testService(bareRecords(), { data });
    await first.call('GET', '/patients', { query: { lastId: 0 } });
    await first.close();
    const second = await testService([], { data });
    await writeEntry(second);
    const report = await verifyLog(second.service.store.read);
    const { length } = await rawEntries(second);
    expect(report).toMatchObject({ first: 1, last: length, entries: length, problems: [] });
    await second.close();
    await rm(data, { recursive: true });
  });
});

describe('an end that was noted', () => {
  const note = async () => {
    await service.service.store.sequenceEntries();
    const [id = '', hash = ''] = (await verifyLog(service.service.store.read)).head.split(':');
    return { id: Number(id), hash };
  };

  it('is found again, however much follows', async () => {
    const expected = await note();
    await writeEntry(service);
    expect(await problemsOf(service, { expected })).toEqual([]);
  });

  it('shows that the last entries were taken out and the head set back', async () => {
    const expected = await note();
    const before = (await rawEntries(service)).at(-2);
    await tamper(
      service,
      `DELETE FROM audit_entries WHERE id > ${before?.id}`,
      `UPDATE log_heads SET last_id = ${before?.id}, hash = '${before?.hash}' WHERE name = 'audit'`,
    );
    expect(await problemsOf(service)).toEqual([]);
    expect(await problemsOf(service, { expected })).toEqual([`audit.missing entry ${expected.id}`]);
  });

  it('shows that hashes were made anew from an altered entry on', async () => {
    const expected = await note();
    await tamper(service, "UPDATE audit_entries SET who = 'token nobody' WHERE id = 3");
    await rehash(service, 3);
    expect(await problemsOf(service)).toEqual([]);
    expect(await problemsOf(service, { expected })).toEqual([`audit.altered entry ${expected.id}`]);
  });
});
