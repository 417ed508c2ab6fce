import { createHash } from 'node:crypto';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openAuditKey, type PublicKeys, readPublicKeys } from '../../../src/server/audit/keys.ts';
import { verifyLog } from '../../../src/server/audit/verify.ts';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { migrate } from '../../../src/server/maintenance/migrate.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import { TestClock } from '../../support/clock.ts';
import { hashAfter, minute, rawEntries, writeEntry } from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { preparedTest } from '../../support/preparedschemas.ts';
import { tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';
import { check, filesIn, linesOf, own, scratch, WORK } from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
/** The clock of a test. */
let clock: TestClock;
const at = (name: string) => join(place.path, name);
const work = () => ({ ...WORK, now: clock.now });
const open = (data: string, auditCheckpoints = at('shipped')) =>
  testService([], { data, clock, audit: { auditCheckpoints } });

/** A practice whose server shipped checkpoints, a backup of it, and what happened after the backup: tests have copies. */
let original: Awaited<ReturnType<typeof scratch>>;
let ended: number;
beforeAll(async () => {
  original = await scratch();
  const first = join(original.path, 'first');
  const auditCheckpoints = join(original.path, 'shipped');
  const service = await testService(bareRecords(), { data: first, audit: { auditCheckpoints } });
  await writeEntry(service);
  await minute(service);
  await backUp({ data: first }, join(original.path, 'backup'), { ...WORK, now: service.clock.now, version: '1' });
  await writeEntry(service);
  await minute(service);
  await writeEntry(service);
  await service.close();
  ended = service.clock.now() + 60_000;
});
afterAll(() => original.remove());

beforeEach(async () => {
  place = await scratch();
  clock = new TestClock(ended);
  await cp(original.path, place.path, { recursive: true });
});
afterEach(() => place.remove());

async function found(in_: TestService, keys: PublicKeys, shipped?: string): Promise<string[]> {
  const { problems } = await verifyLog(in_.service.store.read, { keys, shipped });
  return problems.map(({ code, kind, id }) => `${code} ${kind} ${id}`);
}

it('a backup has no key in it', async () => {
  const secret = await readFile(join(at('first'), 'audit.key'));
  expect(await filesIn(at('backup'))).not.toContain('audit.key');
  const database = await readFile(join(at('backup'), 'molar.sqlite'));
  const inner = secret.toString().split('\n')[1] ?? '';
  expect(database.includes(inner)).toBe(false);
  expect(database.includes(Buffer.from(inner, 'base64').subarray(-32))).toBe(false);
});

it('a restored folder is whole with its own key, whatever was shipped before, and goes on in the same file', async () => {
  const { problems } = await restore(at('backup'), { data: at('second') }, work());
  expect(problems).toEqual([]);
  expect(linesOf(await check({ data: at('second') }))).toEqual([]);
  const second = await open(at('second'));
  const keys = await readPublicKeys(join(at('second'), 'audit.key'));
  expect(keys).not.toEqual(await readPublicKeys(join(at('first'), 'audit.key')));
  expect(await found(second, keys, at('shipped'))).toEqual([]);
  await writeEntry(second);
  await minute(second);
  await expect.poll(() => second.keeper.metrics()[0]?.read()).toBe(0);
  expect(await found(second, keys, at('shipped'))).toEqual([]);
  // With the key of before, what is older can be verified, too.
  const both = new Map([...keys, ...(await readPublicKeys(join(at('first'), 'audit.key')))]);
  expect(await found(second, both, at('shipped'))).toEqual([]);
  await tamper(second, 'UPDATE audit_checkpoints SET entries = 99 WHERE number = 2');
  expect(await found(second, both)).toEqual(['audit.checkpoint checkpoint 2']);
  await second.close();
});

it('a restored folder that is served with the key of before is whole with that key alone', async () => {
  await restore(at('backup'), { data: at('second') }, work());
  const auditKey = join(at('first'), 'audit.key');
  const audit = { auditKey, auditCheckpoints: at('shipped') };
  const second = await testService([], { data: at('second'), clock, audit });
  await writeEntry(second);
  await minute(second);
  await expect.poll(() => second.keeper.metrics()[0]?.read()).toBe(0);
  expect(await found(second, await readPublicKeys(auditKey), at('shipped'))).toEqual([]);
  await second.close();
});

it('a restore that somebody else signed is not taken up by the server', async () => {
  await restore(at('backup'), { data: at('second') }, work());
  await openAuditKey(at('mine'));
  await cp(at('mine'), join(at('second'), 'audit.key'));
  const auditKey = join(at('first'), 'audit.key');
  const second = await testService([], { data: at('second'), clock, audit: { auditKey } });
  expect((await found(second, await readPublicKeys(auditKey)))[0]).toMatch(/^audit\.checkpoint checkpoint \d+$/);
  await second.close();
});

it('a restored folder with a file of its own has all checkpoints in it', async () => {
  await restore(at('backup'), { data: at('second') }, work());
  const second = await open(at('second'), at('other'));
  const keys = await readPublicKeys(join(at('second'), 'audit.key'));
  await expect.poll(() => second.keeper.metrics()[0]?.read()).toBe(0);
  expect(await found(second, keys, at('other'))).toEqual([]);
  await second.close();
});

it('an older state after a restore is found as ever', async () => {
  await restore(at('backup'), { data: at('second') }, work());
  await cp(at('second'), at('older'), { recursive: true });
  const second = await open(at('second'));
  await writeEntry(second);
  await minute(second);
  await second.close();
  const older = await open(at('older'), at('other'));
  const keys = await readPublicKeys(join(at('second'), 'audit.key'));
  expect((await found(older, keys, at('shipped')))[0]).toMatch(/^audit\.rolled-back checkpoint \d+$/);
  await older.close();
});

it('an older database is no restored one because an entry says so', async () => {
  await cp(join(at('backup'), 'molar.sqlite'), join(at('first'), 'molar.sqlite'));
  const place = { path: at('first'), database: undefined };
  const last = (await rawEntries(place as TestService)).at(-1);
  const forged = { ...last, id: (last?.id ?? 0) + 1, operation: 'server.restore', who: 'command root' } as never;
  const hash = hashAfter(last?.hash ?? '', forged);
  const values = Object.values({ ...(forged as object), hash }).map((value) =>
    value === null ? 'NULL' : `'${value}'`,
  );
  await tamper(
    place,
    `INSERT INTO audit_entries (${Object.keys(forged).join(', ')}) VALUES (${values.join(', ')})`,
    `UPDATE log_heads SET last_id = last_id + 1, hash = '${hash}' WHERE name = 'audit'`,
  );
  await writeFile(at('kept'), await readFile(at('shipped')));
  const first = await open(at('first'));
  const keys = await readPublicKeys(join(at('first'), 'audit.key'));
  expect((await found(first, keys, at('kept')))[0]).toMatch(/^audit\.rolled-back checkpoint \d+$/);
  await first.close();
});

preparedTest('a restored or migrated database is whole with the key of its servers', async (database) => {
  const auditKey = at('config.key');
  const url = own(database);
  const to = { data: at('unused'), database: url, files: at('files'), auditKey };
  expect((await restore(at('backup'), to, work())).problems).toEqual([]);
  expect(linesOf(await check(to))).toEqual([]);
  await migrate(to, { data: at('third') }, work());
  const third = await open(at('third'));
  expect(await found(third, await readPublicKeys(join(at('third'), 'audit.key')), at('shipped'))).toEqual([]);
  await third.close();
  expect(
    createHash('sha256')
      .update(await readFile(auditKey))
      .digest('hex'),
  ).not.toBe(
    createHash('sha256')
      .update(await readFile(join(at('third'), 'audit.key')))
      .digest('hex'),
  );
});
