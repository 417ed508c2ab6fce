import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readAuthorities } from '../../../src/server/signin/authorities.ts';
import { AUTHORITY, CertificateFolder, CLIENT, hasOpenssl } from '../../support/certificates.ts';

let folder: string;
let files: CertificateFolder;

beforeEach((context) => {
  if (!hasOpenssl) context.skip('openssl is not installed');
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-authorities-'));
  if (!hasOpenssl) return;
  files = new CertificateFolder(folder);
  files.make('ca', '/CN=Practice CA', AUTHORITY);
  files.make('kiosk', '/CN=kiosk', CLIENT, 'ca');
});

afterAll(() => rm(folder, { recursive: true }));

describe('an authority is refused before the server starts', () => {
  it.each<[string, string, RegExp]>([
    ['a certificate that may not sign', 'kiosk.pem', /certificate authority/],
    ['a key', 'ca.key', /no certificate/],
    ['a file that does not exist', 'none.pem', /ENOENT/],
    ['a file that is damaged', 'damaged.pem', /certificate authority/],
    ['one beside an authority', 'both.pem', /certificate authority/],
  ])('%s', async (_name, file, reason) => {
    const certificate = files.pem('ca').cert;
    await writeFile(files.path('both.pem'), certificate + files.pem('kiosk').cert);
    await writeFile(files.path('damaged.pem'), certificate.replace(/\n.{9}/, '\nAAAAAAAAA'));
    const reading = readAuthorities(files.path(file));
    await expect(reading).rejects.toMatchObject({ problems: [{ source: '--tls-client-ca' }], message: reason });
  });
});
