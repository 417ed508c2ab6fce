import { syncBuiltinESMExports } from 'node:module';
import os, { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { appendCommand, commandUser, writeCommand } from '../../../src/server/audit/commands.ts';
import { openAuditKey } from '../../../src/server/audit/keys.ts';
import { readRequest, signNow } from '../../../src/server/audit/signing.ts';
import { rawEntries } from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { rawRows, tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';
import type { RawCheckpoint } from '../../support/signedlog.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

it('a command is an entry of whoever runs it, which is in its place when that is told', async () => {
  const { store } = service.service;
  await writeCommand({ store, clock: service.clock.now }, { operation: 'server.backup', all: true });
  const last = (await rawEntries(service)).at(-1);
  expect(last).toMatchObject({
    ...{ at: service.clock.text(), who: `command ${userInfo().username}`, operation: 'server.backup' },
    ...{ org: null, address: null, request_id: null, covers_all: 1 },
  });
  expect(last?.id).toBeGreaterThan(0);
  expect(commandUser()).toBe(`command ${userInfo().username}`);
});

it.each([
  ['its number', () => 4711, 'command 4711'],
  ['a word where the system has no numbers', undefined, 'command unknown'],
])('a user without a name, as in a container, is told by %s', (_what, getuid, told) => {
  const before = { userInfo: os.userInfo, getuid: process.getuid };
  onTestFinished(() => {
    Object.assign(os, { userInfo: before.userInfo });
    Object.assign(process, { getuid: before.getuid });
    syncBuiltinESMExports();
  });
  const userInfo = () => {
    throw new Error('ENOENT: no such user');
  };
  Object.assign(os, { userInfo });
  Object.assign(process, { getuid });
  syncBuiltinESMExports();
  expect(commandUser()).toBe(told);
});

it('a command that changes something has its entry in the same transaction', async () => {
  const { store } = service.service;
  const before = (await rawEntries(service)).length;
  const done = { operation: 'tokens.create', org: 1, ids: ['0a1b'] };
  await store.write((tx) => appendCommand(tx, service.clock.text(), done, 'command somebody'));
  await expect(
    store.write(async (tx) => {
      await appendCommand(tx, service.clock.text(), done);
      throw new Error('refused');
    }),
  ).rejects.toThrow('refused');
  await store.sequenceEntries();
  const entries = await rawEntries(service);
  expect(entries).toHaveLength(before + 1);
  expect(entries.at(-1)).toMatchObject({ who: 'command somebody', org: 1, ids: '["0a1b"]', record_count: 1 });
});

it('a restore signs with the key of its place, which it makes; anything else only with one that is there', async () => {
  const { store } = service.service;
  const data = join(service.path, 'place');
  const now = service.clock.now();
  const last = async () =>
    (await rawRows<RawCheckpoint>(service, 'SELECT * FROM audit_checkpoints ORDER BY number DESC LIMIT 1'))[0];
  expect(await signNow(store, { data }, 'restore', now)).toBe(true);
  const { id, made } = await openAuditKey(join(data, 'audit.key'));
  expect(made).toBe(false);
  expect(await last()).toMatchObject({ reason: 'restore', key: id, at: service.clock.text() });
  expect(await signNow(store, { data }, 'verify', now)).toBe(false);
  await writeCommand({ store, clock: service.clock.now }, { operation: 'server.backup' });
  expect(await signNow(store, { data, auditKey: join(data, 'audit.key') }, 'verify', now)).toBe(true);
  expect(await last()).toMatchObject({ reason: 'verify', key: id });
  expect((await readRequest(store.read)).wanted).toBe(false);
});

it('entries that wait for their place get it before a command is noted, or signs', async () => {
  const { store } = service.service;
  const wait = () =>
    tamper(
      service,
      "INSERT INTO audit_entries (id, at, who, operation, hash) VALUES (-1, 'then', 'token 0a1b', 'waited', '')",
    );
  const last = async (count: number) => (await rawEntries(service)).slice(-count).map(({ operation }) => operation);
  await wait();
  await writeCommand({ store, clock: service.clock.now }, { operation: 'server.backup' });
  expect(await last(2)).toEqual(['waited', 'server.backup']);
  await wait();
  expect(await signNow(store, { data: join(service.path, 'place') }, 'restore', service.clock.now())).toBe(true);
  expect(await last(1)).toEqual(['waited']);
  const [checkpoint] = await rawRows<RawCheckpoint>(
    service,
    'SELECT * FROM audit_checkpoints ORDER BY number DESC LIMIT 1',
  );
  expect(checkpoint?.id).toBe((await rawEntries(service)).at(-1)?.id);
});
