import { execFileSync } from 'node:child_process';
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { system } from '../../../src/filesystem/system.ts';
import { auditKeyFile, keysOf, openAuditKey, readPublicKeys } from '../../../src/server/audit/keys.ts';
import { need } from '../../support/capabilities.ts';
import { replaceSystem } from '../../support/othersystem.ts';

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

it('a key has the first 16 digits of the SHA-256 of its public half as its id, and that half verifies', async () => {
  const file = join(folder, 'id.key');
  const { id, own, secret } = await openAuditKey(file);
  const half = execFileSync('openssl', ['pkey', '-in', file, '-pubout', '-outform', 'DER']);
  expect(id).toBe(createHash('sha256').update(half).digest('hex').slice(0, 16));
  expect([...own.keys()]).toEqual([id]);
  const signature = sign(null, Buffer.from('x'), secret);
  expect(verify(null, Buffer.from('x'), own.get(id) ?? '', signature)).toBe(true);
});

it('of several keys in the file the first one signs, and all of them verify', async () => {
  const [first, second] = [join(folder, 'signs.key'), join(folder, 'before.key')];
  const ids = [(await openAuditKey(first)).id, (await openAuditKey(second)).id];
  await appendFile(first, await readFile(second));
  const opened = await openAuditKey(first);
  expect(opened.id).toBe(ids[0]);
  expect([...opened.own.keys()]).toEqual(ids);
});

it('a key that cannot be made is told', async () => {
  const file = join(folder, 'a-file');
  await writeFile(file, 'x');
  await expect(openAuditKey(join(folder, 'a-folder', 'x'))).resolves.toMatchObject({ made: true });
  await expect(openAuditKey(`${folder}/${'x'.repeat(300)}`)).rejects.toMatchObject({
    name: 'StoreUnusable',
    next: 'Name another file.',
  });
});

it('a file that is no text, or is not there, has no keys', async () => {
  const file = join(folder, 'binary.key');
  await writeFile(file, Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0xff]), { mode: 0o600 });
  await expect(readPublicKeys(file)).rejects.toMatchObject({ name: 'StoreUnusable' });
  await expect(readPublicKeys(join(folder, 'nothing.key'))).rejects.toMatchObject({ code: 'ENOENT' });
});

it('the keys of a place are those of its file, which a data folder has beside no other database', async () => {
  const data = join(folder, 'data');
  expect(await keysOf({ data })).toBeUndefined();
  const { id } = await openAuditKey(join(data, 'audit.key'));
  const elsewhere = join(folder, 'elsewhere.key');
  const other = await openAuditKey(elsewhere);
  const idsOf = async (place: Parameters<typeof keysOf>[0]) => {
    const keys = await keysOf(place);
    return keys && [...keys.keys()];
  };
  expect(auditKeyFile(data)).toBe(join(data, 'audit.key'));
  expect(await idsOf({ data })).toEqual([id]);
  expect(await idsOf({ data, database: 'postgres://x/y' })).toBeUndefined();
  expect(await idsOf({ data, database: 'postgres://x/y', auditKey: elsewhere })).toEqual([other.id]);
  expect(await idsOf({ data, auditKey: elsewhere })).toEqual([other.id]);
  expect(await idsOf({ data, auditKey: join(folder, 'missing.key') })).toBeUndefined();
});

it('a key is on the disk under its name before anything is signed with it', async (context) => {
  need(context, 'proc');
  const { sync, fsync } = system;
  const synced: string[] = [];
  const nameOf = (descriptor: number) => basename(readlinkSync(`/proc/self/fd/${descriptor}`));
  replaceSystem({
    sync: (file) => {
      synced.push(nameOf(file.fd));
      return sync(file);
    },
    fsync: (descriptor) => {
      synced.push(nameOf(descriptor));
      return fsync(descriptor);
    },
  });
  const place = join(folder, 'lasting');
  await mkdir(place, { mode: 0o700 });
  await openAuditKey(join(place, 'audit.key'));
  expect(synced).toEqual(['audit.key', 'lasting']);
  await openAuditKey(join(place, 'audit.key'));
  expect(synced).toHaveLength(2);
});
