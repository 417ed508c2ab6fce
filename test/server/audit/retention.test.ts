import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteOldEntries } from '../../../src/server/audit/retention.ts';
import { lastNumber, minute, problemsOf, rawEntries, rehash, writeEntry } from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';

const DAY = 24 * 60 * 60 * 1000;
let service: TestService;

beforeEach(async () => {
  service = await testService(bareRecords());
  await writeEntry(service);
  await minute(service);
  for (let n = 0; n < 3; n++) await writeEntry(service);
});
afterEach(() => service.close());

const deleteOld = (days: number) => deleteOldEntries(service.service.store, service.keeper, service.clock.now, days);

async function afterTenDays(): Promise<void> {
  service.clock.advance(10 * DAY);
  await writeEntry(service);
  await service.service.store.sequenceEntries();
}

describe('entries older than the retention', () => {
  it('go, the deletion is an entry and in a signed checkpoint, and what is left can be verified', async () => {
    const old = await rawEntries(service);
    await afterTenDays();
    await deleteOld(5);
    const left = await rawEntries(service);
    expect(left.map(({ operation }) => operation)).toEqual(['transactiontags.create', 'audit.delete']);
    expect(left[1]).toMatchObject({ who: 'retention', record_count: old.length });
    const checkpoints = await rawRows<{ reason: string; removed_id: number; removed_hash: string }>(
      service,
      `SELECT * FROM audit_checkpoints WHERE reason = 'retention'`,
    );
    expect(checkpoints).toMatchObject([{ removed_id: old.length, removed_hash: old.at(-1)?.hash, entries: 1 }]);
    expect(await problemsOf(service)).toEqual([]);
    const expected = { id: 1, hash: 'a'.repeat(64) };
    expect(await problemsOf(service, { expected })).toEqual(['audit.missing entry 1']);
  });

  it('take the checkpoints with them that are about nothing else', async () => {
    await afterTenDays();
    await minute(service);
    const before = await lastNumber(service);
    await deleteOld(5);
    const kept = await rawRows<{ number: number }>(service, 'SELECT number FROM audit_checkpoints ORDER BY number');
    expect(kept[0]?.number).toBeGreaterThan(1);
    expect(kept.at(-1)?.number).toBeGreaterThan(before);
    expect(await problemsOf(service)).toEqual([]);
    await tamper(service, `DELETE FROM audit_checkpoints WHERE number = ${kept[0]?.number}`);
    expect(await problemsOf(service)).toEqual([`audit.checkpoint checkpoint ${kept[0]?.number}`]);
  });

  it('do not go before their time', async () => {
    const before = await rawEntries(service);
    service.clock.advance(4 * DAY);
    await deleteOld(5);
    expect(await rawEntries(service)).toEqual(before);
  });

  it('are missed when more of them go than was signed, or they come back', async () => {
    const [first] = await rawEntries(service);
    await afterTenDays();
    await deleteOld(5);
    const [left] = await rawEntries(service);
    await tamper(
      service,
      `INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (1, '${first?.at}', 'x', 'x', '${first?.hash}')`,
    );
    expect(await problemsOf(service)).toEqual(['audit.inserted entry 1']);
    await tamper(service, `DELETE FROM audit_entries WHERE id <= ${left?.id}`);
    expect(await problemsOf(service)).toEqual([`audit.missing entry ${left?.id}`]);
  });

  it('stay when they were tampered with, with hashes made anew or not', async () => {
    const before = (await rawEntries(service)).map(({ id }) => id);
    await tamper(service, "UPDATE audit_entries SET at = '2001-01-01T00:00:00.000Z'");
    await deleteOld(5);
    expect((await rawEntries(service)).map(({ id }) => id)).toEqual(before);
    await rehash(service, 1);
    await deleteOld(5);
    expect((await rawEntries(service)).map(({ id }) => id)).toEqual(before);
    expect(await problemsOf(service)).toEqual(['audit.altered entry 1']);
  });
});
