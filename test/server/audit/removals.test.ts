import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendCheckpoint } from '../../../src/server/audit/checkpoints.ts';
import { type AuditKey, openAuditKey } from '../../../src/server/audit/keys.ts';
import { deleteOldEntries } from '../../../src/server/audit/retention.ts';
import { lastNumber, minute, problemsOf, rawEntries, rehash, writeEntry } from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';

const DAY = 24 * 60 * 60 * 1000;

let service: TestService;

beforeEach(async () => {
  service = await testService(bareRecords());
  for (let n = 0; n < 4; n++) await writeEntry(service);
  await minute(service);
  for (let n = 0; n < 4; n++) await writeEntry(service);
});
afterEach(() => service.close());

/** Deletes the first entries, and says in a checkpoint that nobody signed that retention had removed them. */
async function inventRemoval(): Promise<number> {
  const entries = await rawEntries(service);
  const gone = entries[5] as { id: number; hash: string };
  const number = (await lastNumber(service)) + 1;
  await tamper(
    service,
    `DELETE FROM audit_entries WHERE id <= ${gone.id}`,
    `INSERT INTO audit_checkpoints (number, at, id, hash, entries, reason, removed_id, removed_hash, removed_checkpoints,
      previous, key, signature) VALUES (${number}, '2026-03-02T12:00:00.000Z', ${gone.id}, '${gone.hash}', 1, 'retention',
      ${gone.id}, '${gone.hash}', ${number}, '', '0123456789abcdef', 'AAAA')`,
  );
  return number;
}

/** Removes what would betray it, once the server has signed something behind it. */
async function coverTracks(number: number): Promise<string[]> {
  await tamper(service, `DELETE FROM audit_checkpoints WHERE number <= ${number}`);
  return problemsOf(service);
}

it('checkpoints that somebody moved to the past do not go with what is removed', async () => {
  const [first] = await rawEntries(service);
  service.clock.advance(10 * DAY);
  await writeEntry(service);
  await minute(service);
  const young = (await rawEntries(service)).at(-1) as { id: number };
  await tamper(
    service,
    `UPDATE audit_entries SET who = 'token nobody' WHERE id = ${young.id}`,
    `UPDATE audit_checkpoints SET id = 1, hash = '${first?.hash}', key = '0123456789abcdef' WHERE number > 0`,
  );
  await rehash(service, young.id);
  await deleteOldEntries(service.service.store, service.keeper, service.clock.now, 5);
  expect(await problemsOf(service)).not.toEqual([]);
});

describe('a removal that nobody signed', () => {
  it('is not taken over into the next checkpoint', async () => {
    const number = await inventRemoval();
    await writeEntry(service);
    await minute(service);
    expect(await coverTracks(number)).toContain('audit.missing entry 1');
  });

  it('is not what retention goes on from', async () => {
    const number = await inventRemoval();
    service.clock.advance(10 * DAY);
    await writeEntry(service);
    await deleteOldEntries(service.service.store, service.keeper, service.clock.now, 5);
    expect(await coverTracks(number)).toContain('audit.missing entry 1');
  });
});

describe('another server of the same database', () => {
  it('goes on from what was removed once its key file names the key that signed that', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'molar-removals-'));
    try {
      const file = join(folder, 'audit.key');
      const { store } = service.service;
      const signing = service.keeper.signing('retention');
      const remove = async (key: AuditKey) => {
        service.clock.advance(10 * DAY);
        await writeEntry(service);
        // The server's own checkpoint of this day: it must not come in between.
        await minute(service);
        const latest = () => ({ ...service.keeper.signing('retention'), key, now: service.clock.now() });
        const keeper = { signing: latest, committed: () => undefined };
        await deleteOldEntries(store, keeper, service.clock.now, 5);
        const sign = { key, now: service.clock.now(), reason: 'minute' } as const;
        await store.write((tx) => appendCheckpoint(tx, sign));
        expect(await problemsOf(service, { keys: new Map([...signing.key.own, ...key.own]) })).toEqual([]);
        return (await rawEntries(service))[0]?.id ?? 0;
      };
      const first = await remove(signing.key);
      expect(first).toBeGreaterThan(1);
      const other = await openAuditKey(file);
      expect(await remove(other)).toBe(first);
      const [half] = [...signing.key.own.values()];
      await appendFile(file, String(half?.export({ type: 'spki', format: 'pem' })));
      expect((await openAuditKey(file)).id).toBe(other.id);
      expect(await remove(await openAuditKey(file))).toBeGreaterThan(first);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
