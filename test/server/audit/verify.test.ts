import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditRow } from '../../../src/server/audit/entries.ts';
import { deleteOldEntries } from '../../../src/server/audit/retention.ts';
import { verifyLog } from '../../../src/server/audit/verify.ts';
import type { Reader } from '../../../src/server/store/store.ts';
import { lastNumber, problemsOf, rawEntries, writeEntry } from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';

const DAY = 24 * 60 * 60 * 1000;

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

const keys = () => service.keeper.signing('verify').key.own;
const deleteOld = () => deleteOldEntries(service.service.store, service.keeper, service.clock.now, 5);

/** Writes so many entries at once. */
async function write(count: number): Promise<void> {
  const actor = { who: 'token 0a1b', address: null, requestId: null };
  const entry = { org: 1, at: service.clock.text(), actor, operation: 'transactiontags.list' };
  await service.service.store.appendLogs(Array.from({ length: count }, () => auditRow(entry)));
  await service.service.store.sequenceEntries();
}

describe('the report of a verification', () => {
  it('tells how much there is, over several pages', async () => {
    await write(2001);
    const entries = await rawEntries(service);
    const last = entries.at(-1);
    expect(await verifyLog(service.service.store.read, { keys: keys() })).toEqual({
      ...{ entries: entries.length, first: 1, last: last?.id, head: `${last?.id}:${last?.hash}` },
      ...{ checkpoints: await lastNumber(service), problems: [] },
    });
  });

  it('begins with what retention has left', async () => {
    await write(3);
    service.clock.advance(10 * DAY);
    await write(2);
    await deleteOld();
    const left = await rawEntries(service);
    const report = await verifyLog(service.service.store.read, { keys: keys() });
    expect(report).toMatchObject({ entries: 3, first: left[0]?.id, last: left[2]?.id, problems: [] });
    expect(left[0]?.id).toBeGreaterThan(1);
  });

  it('has entries first, in the order of their numbers, then checkpoints and the head', async () => {
    await write(4);
    const end = (await rawEntries(service)).at(-1)?.id ?? 0;
    await tamper(
      service,
      `UPDATE audit_entries SET who = 'token nobody' WHERE id IN (2, ${end - 1})`,
      'UPDATE audit_checkpoints SET entries = 99',
      "UPDATE log_heads SET hash = 'x' WHERE name = 'audit'",
      `INSERT INTO audit_strays (id, at, who, operation, hash) VALUES (3, 'then', 'token nobody', 'x', 'x')`,
    );
    expect(await problemsOf(service)).toEqual([
      'audit.altered entry 2',
      'audit.above-head entry 3',
      `audit.altered entry ${end - 1}`,
      'audit.altered head',
      'audit.checkpoint checkpoint 1',
    ]);
  });

  it('has a hundred problems at most, and looks no further at the index of patients', async () => {
    await write(150);
    await tamper(service, "UPDATE audit_entries SET who = 'token nobody'", 'DELETE FROM audit_patients');
    expect(await problemsOf(service)).toHaveLength(100);
  });

  it('takes no log for unsigned that is empty, or of which no key is known', async () => {
    await tamper(service, 'DELETE FROM audit_checkpoints');
    expect(await problemsOf(service)).toEqual(['audit.checkpoint head']);
    expect(await problemsOf(service, { keys: new Map() })).toEqual([]);
    expect(await problemsOf(service, { keys: undefined })).toEqual([]);
    await tamper(
      service,
      'DELETE FROM audit_entries',
      'DELETE FROM audit_patients',
      "UPDATE log_heads SET last_id = 0, hash = '' WHERE name = 'audit'",
    );
    const report = await verifyLog(service.service.store.read, { keys: keys() });
    expect(report).toEqual({ entries: 0, first: null, last: null, head: '0:', checkpoints: 0, problems: [] });
  });

  it('says that what cannot be read is damaged, and throws what is something else', async () => {
    await tamper(service, 'DROP TABLE audit_checkpoints');
    const { problems, ...rest } = await verifyLog(service.service.store.read);
    expect(rest).toEqual({ entries: 0, first: null, last: null, head: '', checkpoints: 0 });
    expect(problems).toEqual([
      { code: 'audit.altered', kind: 'head', id: null, problem: expect.stringContaining('audit_checkpoints') },
    ]);
    const failing = { get: () => Promise.reject(new Error('busy')) } as unknown as Reader;
    await expect(verifyLog(failing)).rejects.toThrow('busy');
  });
});

/** A reader that does something once, before it reads entries. */
function readerThat(act: () => Promise<void>): Reader & { readonly reads: () => number } {
  const { read } = service.service.store;
  let reads = 0;
  return {
    get: (statement) => read.get(statement),
    all: async (statement) => {
      if (statement.sql.includes('FROM audit_entries WHERE id > ') && reads++ === 0) await act();
      return read.all(statement);
    },
    reads: () => reads,
  };
}

describe('what happens while a log is verified', () => {
  it('is no damage when retention deletes entries', async () => {
    await write(3);
    service.clock.advance(10 * DAY);
    await write(2);
    const read = readerThat(deleteOld);
    const report = await verifyLog(read, { keys: keys() });
    expect(report.problems).toEqual([]);
    expect(report.first).toBeGreaterThan(1);
    expect(read.reads()).toBe(2);
  });

  it('is damage when somebody else does, which is looked for once', async () => {
    await write(3);
    const read = readerThat(() => tamper(service, 'DELETE FROM audit_entries WHERE id = 1'));
    const { problems } = await verifyLog(read, { keys: keys() });
    expect(problems).toMatchObject([{ code: 'audit.missing', id: 1 }]);
    expect(read.reads()).toBe(1);
  });

  it('is not looked at when entries are written', async () => {
    await write(3);
    const end = (await rawEntries(service)).at(-1);
    const read = readerThat(async () => {
      await writeEntry(service);
      await service.service.store.sequenceEntries();
    });
    expect(await verifyLog(read, { keys: keys() })).toMatchObject({
      last: end?.id,
      head: `${end?.id}:${end?.hash}`,
      problems: [],
    });
    expect((await rawEntries(service)).at(-1)?.id).toBeGreaterThan(end?.id ?? 0);
  });
});
