import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readTls, reloadOnHangup } from '../../../src/server/http/tls.ts';
import { AUTHORITY, CertificateFolder, hasOpenssl, SERVER } from '../../support/certificates.ts';

it('a reload reports authorities whenever they have changed, and only then', async (context) => {
  if (!hasOpenssl) return context.skip('openssl is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'molar-authorities-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const made = new CertificateFolder(folder);
  made.make('server', '/CN=127.0.0.1', SERVER);
  for (const name of ['first', 'second']) made.make(name, '/CN=Practice CA', AUTHORITY);
  const files = { cert: made.path('server.pem'), key: made.path('server.key'), clientCa: made.path('ca.pem') };
  await copyFile(made.path('first.pem'), files.clientCa);
  const read: string[] = [];
  let changes = 0;
  const note = (level: string) => void read.push(level);
  onTestFinished(reloadOnHangup({}, files, await readTls(files), { note }, () => void changes++));
  for (const [name, expected] of [
    ['first', 0],
    ['second', 1],
    ['second', 1],
    ['first', 2],
  ] as const) {
    await copyFile(made.path(`${name}.pem`), files.clientCa);
    const before = read.length;
    process.emit('SIGHUP');
    await expect.poll(() => read.slice(before)).toEqual(['info']);
    expect(changes).toBe(expected);
  }
});
