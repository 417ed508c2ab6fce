import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readTls, reloadOnHangup } from '../../../src/server/http/tls.ts';
import { AUTHORITY, CertificateFolder, hasOpenssl, SERVER } from '../../support/certificates.ts';

it('authorities are others than before each time that they change, there and back, and not where they stay', async (context) => {
  if (!hasOpenssl) return context.skip('openssl is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'molar-authorities-'));
  const made = new CertificateFolder(folder);
  made.make('server', '/CN=127.0.0.1', SERVER);
  for (const name of ['first', 'second']) made.make(name, '/CN=Practice CA', AUTHORITY);
  const files = { cert: made.path('server.pem'), key: made.path('server.key'), clientCa: made.path('ca.pem') };
  await copyFile(made.path('first.pem'), files.clientCa);
  let [reads, changes] = [0, 0];
  const note = () => void reads++;
  const stop = reloadOnHangup({}, files, await readTls(files), { note }, () => void changes++);
  try {
    for (const [name, expected] of [
      ['first', 0],
      ['second', 1],
      ['second', 1],
      ['first', 2],
    ] as const) {
      await copyFile(made.path(`${name}.pem`), files.clientCa);
      const before = reads;
      process.emit('SIGHUP');
      await expect.poll(() => reads).toBe(before + 1);
      expect(changes).toBe(expected);
    }
  } finally {
    stop();
    await rm(folder, { recursive: true });
  }
});
