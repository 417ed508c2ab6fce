import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openAuditKey } from '../../../src/server/audit/keys.ts';
import { problemsOf, rawEntries, writeEntry } from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';

let folder: string;
const open = (records: Parameters<typeof testService>[0] = []) => testService(records, { data: folder });
const keyFile = () => join(folder, 'audit.key');

/** A data folder as a molar without checkpoints left it, whose retention has deleted the first two entries. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-adoption-'));
  const service = await open(bareRecords());
  for (let n = 0; n < 4; n++) await writeEntry(service);
  const [, second] = await rawEntries(service);
  await service.close();
  await tamper(
    { path: folder, database: undefined },
    'DELETE FROM audit_checkpoints',
    'DELETE FROM audit_entries WHERE id <= 2',
    `INSERT INTO settings (name, value) VALUES ('audit_anchor', '2:${second?.hash}')`,
  );
  await rm(keyFile());
});
afterEach(() => rm(folder, { recursive: true }));

const removed = (service: TestService) =>
  rawRows<object>(service, 'SELECT number, reason, removed_id FROM audit_checkpoints');

it('the first start signs a log of before as it finds it', async () => {
  const service = await open();
  expect(await removed(service)).toEqual([{ number: 1, reason: 'start', removed_id: 2 }]);
  expect(await problemsOf(service)).toEqual([]);
  await tamper(service, 'DELETE FROM audit_entries WHERE id = 3');
  expect(await problemsOf(service)).toEqual(['audit.missing entry 3']);
  await service.close();
});

it('a start with a key that was there signs no beginning that only the database tells of', async () => {
  await openAuditKey(keyFile());
  const service = await open();
  expect(await removed(service)).toEqual([{ number: 1, reason: 'start', removed_id: 0 }]);
  expect(await problemsOf(service)).toEqual(['audit.missing entry 1']);
  await service.close();
});
