import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openAuditKey, readPublicKeys } from '../../../src/server/audit/keys.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-keys-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('a key is made once, for its owner alone, in the form that openssl reads', async () => {
  const file = join(folder, 'new', 'audit.key');
  const made = await openAuditKey(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(execFileSync('openssl', ['pkey', '-in', file, '-noout', '-text']).toString()).toContain('ED25519');
  const again = await openAuditKey(file);
  expect([made.made, again.made]).toEqual([true, false]);
  expect(again.id).toBe(made.id);
});

it('a key that others may read is refused', async () => {
  const file = join(folder, 'open.key');
  await openAuditKey(file);
  for (const mode of [0o640, 0o604, 0o620]) {
    await chmod(file, mode);
    await expect(openAuditKey(file)).rejects.toMatchObject({ name: 'StoreUnusable' });
  }
});

it('what is no Ed25519 key is refused', async () => {
  const file = join(folder, 'other.key');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  for (const text of ['', 'nonsense', String(rsa)]) {
    await writeFile(file, text, { mode: 0o600 });
    await expect(openAuditKey(file)).rejects.toMatchObject({ name: 'StoreUnusable' });
    await expect(readPublicKeys(file)).rejects.toMatchObject({ name: 'StoreUnusable' });
  }
});

it('several keys stand in one file, private and public', async () => {
  const [first, second] = [join(folder, 'first.key'), join(folder, 'second.key')];
  const ids = [(await openAuditKey(first)).id, (await openAuditKey(second)).id];
  const half = createPublicKey(await readFile(second, 'utf8')).export({ type: 'spki', format: 'pem' });
  const both = join(folder, 'both.pem');
  await writeFile(both, `${await readFile(first, 'utf8')}${half}`);
  expect([...(await readPublicKeys(both)).keys()]).toEqual(ids);
  await writeFile(join(folder, 'half.pem'), half, { mode: 0o600 });
  await expect(openAuditKey(join(folder, 'half.pem'))).rejects.toMatchObject({ name: 'StoreUnusable' });
});
