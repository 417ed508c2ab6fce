import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readTls } from '../../../src/server/http/tls.ts';
import { CertificateFolder, hasOpenssl, SERVER } from '../../support/certificates.ts';

it('a certificate is taken with its own key alone, whatever kind of key another is', async (context) => {
  if (!hasOpenssl) return context.skip('openssl is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'molar-tls-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const made = new CertificateFolder(folder);
  for (const name of ['server', 'other']) made.make(name, '/CN=127.0.0.1', SERVER);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(made.path('rsa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const taken = (cert: string, key: string) => readTls({ cert: made.path(cert), key: made.path(key) });

  await expect(taken('server.pem', 'server.key')).resolves.toMatchObject(made.pem('server'));
  for (const key of ['other.key', 'rsa.key']) {
    await expect(taken('server.pem', key)).rejects.toMatchObject({
      message: expect.stringContaining(`server.pem and the key ${made.path(key)} cannot be used: the key is not that`),
      next: 'Give a certificate and its own key, both as PEM without a passphrase.',
    });
  }
  // As other servers want it: the certificate, that of its authority, and the key in one file.
  const { cert, key } = made.pem('server');
  writeFileSync(made.path('all.pem'), cert, { mode: 0o600 });
  appendFileSync(made.path('all.pem'), made.pem('other').cert + key);
  await expect(taken('all.pem', 'all.pem')).resolves.toBeDefined();
});
