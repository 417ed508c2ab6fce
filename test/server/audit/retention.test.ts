import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointReason } from '../../../src/server/audit/checkpoints.ts';
import { auditRow } from '../../../src/server/audit/entries.ts';
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

  it('leave those that still wait for their place', async () => {
    await afterTenDays();
    const waits = "INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (-1, '2020', 'x', 'waits', '')";
    await tamper(service, waits);
    await deleteOld(5);
    await service.service.store.sequenceEntries();
    expect((await rawEntries(service)).map(({ operation }) => operation)).toContain('waits');
  });

  it('are those of before a moment, to the millisecond', async () => {
    const before = await rawEntries(service);
    const [first] = before;
    const age = (milliseconds: number) =>
      service.clock.advance(Date.parse(first?.at as string) + milliseconds - service.clock.now());
    age(5 * DAY);
    await deleteOld(5);
    expect(await rawEntries(service)).toEqual(before);
    age(5 * DAY + 1);
    await deleteOld(5);
    const left = await rawEntries(service);
    expect(left[0]?.id).toBeGreaterThan(1);
    expect(left.at(-1)).toMatchObject({ operation: 'audit.delete', at: service.clock.text(), org: null });
  });

  it('go a thousand at a time, each with its entry and checkpoint, until it is told to stop', async () => {
    const rows = Array.from({ length: 2001 }, () =>
      auditRow({
        ...{ org: 1, at: service.clock.text(), operation: 'patients.get', ids: [5], patients: [5] },
        actor: { who: 'token', address: null, requestId: null },
      }),
    );
    await service.service.store.appendLogs(rows);
    await afterTenDays();
    const before = (await rawEntries(service)).length;
    const counts = async () =>
      (await rawEntries(service))
        .filter(({ operation }) => operation === 'audit.delete')
        .map(({ record_count }) => record_count);
    const stopping = new AbortController();
    const committed = (...args: Parameters<typeof service.keeper.committed>) => {
      service.keeper.committed(...args);
      stopping.abort();
    };
    const keeper = { signing: (reason: CheckpointReason) => service.keeper.signing(reason), committed };
    const { store } = service.service;
    await deleteOldEntries(store, keeper, service.clock.now, 5, stopping.signal);
    expect(await counts()).toEqual([1000]);
    await deleteOldEntries(store, keeper, service.clock.now, 5, stopping.signal);
    expect(await counts()).toEqual([1000]);
    await deleteOld(5);
    expect(await counts()).toEqual([1000, 1000, before - 2001]);
    const checkpoints = await rawRows<{ removed_id: number }>(
      service,
      "SELECT removed_id FROM audit_checkpoints WHERE reason = 'retention' ORDER BY number",
    );
    expect(checkpoints.map(({ removed_id }) => removed_id)).toEqual([1000, 2000, before - 1]);
    const [indexed] = await rawRows<{ found: number }>(
      service,
      'SELECT COUNT(*) AS found FROM audit_patients WHERE bucket = 5',
    );
    expect(indexed?.found).toBe(0);
    expect(await problemsOf(service)).toEqual([]);
    await deleteOld(5);
    expect(await counts()).toHaveLength(3);
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
    // Nor with checkpoints that were made to agree: nobody has signed them.
    const agree = 'SET hash = (SELECT e.hash FROM audit_entries e WHERE e.id = audit_checkpoints.id) WHERE id > 0';
    await tamper(service, `UPDATE audit_checkpoints ${agree}`);
    await deleteOld(5);
    expect((await rawEntries(service)).map(({ id }) => id)).toEqual(before);
  });
});
