import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { molarIn } from './inprocess.ts';
import { connection, molar, type Served, serve, workplace, writeFixture } from './molar.ts';

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version']);
    return true;
  } catch {
    return false;
  }
})();

const RSA = ['-newkey', 'rsa:2048'];
const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

// A certificate is made anew for each run, so that no key is kept here.
describe('a server with TLS', () => {
  const runs = hasOpenssl || process.env.CI === 'true';
  let place: Awaited<ReturnType<typeof workplace>>;
  let served: Served;

  beforeEach((context) => {
    if (!runs) context.skip('openssl is not installed');
  });

  beforeAll(async () => {
    if (!runs) return;
    place = await workplace();
    await writeFixture(place.path, 3);
    makeCertificate('key.pem', 'cert.pem', RSA);
    const tls = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];
    served = await serve(place.path, ['--host', '0.0.0.0', '--data', 'd', '--import', 'fixture.ndjson', ...tls]);
  });

  afterAll(async () => {
    if (!runs) return;
    await served.stop();
    await place.remove();
  });

  /**
   * Makes a certificate for this machine and its key, 0600, in the workplace; one of a curve takes a tenth of the time of
   * one for RSA.
   */
  function makeCertificate(key: string, cert: string, algorithm = CURVE): void {
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const files = ['-keyout', join(place.path, key), '-out', join(place.path, cert)];
    const kind = ['req', '-x509', ...algorithm, '-nodes', '-days', '2'];
    execFileSync('openssl', [...kind, ...files, ...names], { stdio: 'ignore' });
  }

  const portOf = ({ url }: Served) => Number(new URL(url).port);

  function secureSocket(to: Served): Promise<TLSSocket> {
    const socket = connect({ host: '127.0.0.1', port: portOf(to), rejectUnauthorized: false });
    return new Promise((done, fail) => {
      socket.once('secureConnect', () => done(socket));
      socket.once('error', fail);
    });
  }

  /** The fingerprint of the certificate that a server shows. */
  async function shownBy(to: Served): Promise<string> {
    const socket = await secureSocket(to);
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  }
  test('a connection for which there is no room is told so after its handshake (contract §8)', async () => {
    const tls = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem', '--max-connections', '1'];
    const small = await serve(place.path, ['--data', ':memory:', ...tls]);
    const options = { host: '127.0.0.1', port: Number(new URL(small.url).port), rejectUnauthorized: false };
    const first = connect(options);
    await once(first, 'secureConnect');
    const [told] = (await once(connect(options), 'data')) as [Buffer];
    expect(String(told)).toMatch(/^HTTP\/1\.1 503 /);
    first.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answer] = (await once(first, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    first.destroy();
    await small.stop();
  });

  test('it listens beyond this machine, over https', () => {
    expect(served.url).toMatch(/^https:\/\//);
  });

  test.each([
    ['--ca-cert', molarIn, ['--ca-cert', 'cert.pem'], {}],
    // Node reads it when it starts.
    ['NODE_EXTRA_CA_CERTS', molar, [], { NODE_EXTRA_CA_CERTS: 'cert.pem' }],
  ])('it is reached when its certificate is trusted by %s', async (_name, run, flags, env) => {
    const ended = await run(place.path, ['patients', 'count', ...flags], { ...connection(served.url), ...env });
    expect(ended).toEqual({ code: 0, stdout: '3\n', stderr: '' });
  });

  test('without that the certificate is refused, with a way forward', async () => {
    const ended = await molarIn(place.path, ['patients', 'count'], connection(served.url));
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 8, stdout: '' });
    expect(ended.stderr).toMatch(/not trusted/);
    expect(ended.stderr).toMatch(/Next: .*--ca-cert/);
  });

  test.each([
    ['TLSv1', false],
    ['TLSv1.1', false],
    ['TLSv1.2', true],
    ['TLSv1.3', true],
  ] as const)('%s is spoken: %s', async (version, isSpoken) => {
    const only = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0', rejectUnauthorized: false };
    const socket = connect({ host: '127.0.0.1', port: portOf(served), ...only });
    const spoken = await new Promise<string | null>((done) => {
      socket.once('secureConnect', () => done(socket.getProtocol()));
      socket.once('error', () => done(null));
    });
    socket.destroy();
    expect(spoken).toBe(isSpoken ? version : null);
  });

  test.each([
    ['ECDHE-RSA-AES256-GCM-SHA384', true],
    ['ECDHE-RSA-AES128-GCM-SHA256', true],
    ['ECDHE-RSA-CHACHA20-POLY1305', true],
    // No forward secrecy: whoever gets the key later opens what was recorded before.
    ['AES256-GCM-SHA384', false],
    ['AES128-SHA', false],
    // Not authenticated as one with the encryption, and another exchange of keys.
    ['ECDHE-RSA-AES256-SHA384', false],
    ['ECDHE-RSA-AES128-SHA', false],
    ['DHE-RSA-AES256-GCM-SHA384', false],
  ])('of TLS 1.2, %s is spoken: %s', async (cipher, isSpoken) => {
    const only = { maxVersion: 'TLSv1.2', ciphers: `${cipher}:@SECLEVEL=0` } as const;
    const socket = connect({ host: '127.0.0.1', port: portOf(served), rejectUnauthorized: false, ...only });
    const spoken = await new Promise<string | null>((done) => {
      socket.once('secureConnect', () => done(socket.getCipher().name));
      socket.once('error', () => done(null));
    });
    socket.destroy();
    expect(spoken).toBe(isSpoken ? cipher : null);
  });

  test('a key that everybody can read is refused', async () => {
    const loose = join(place.path, 'loose.pem');
    await copyFile(join(place.path, 'key.pem'), loose);
    for (const mode of [0o644, 0o604, 0o602, 0o601]) {
      await chmod(loose, mode);
      const tls = ['--tls-cert', 'cert.pem', '--tls-key', 'loose.pem'];
      const ended = await molarIn(place.path, ['serve', '--port', '0', '--data', 'h', ...tls]);
      expect(ended).toMatchObject({ code: 9, stdout: '', stderr: expect.stringContaining('chmod o= loose.pem') });
    }
  });

  test('a certificate that is not of the key is refused at the start', async () => {
    makeCertificate('other-key.pem', 'other-cert.pem', RSA);
    const tls = ['--tls-cert', 'other-cert.pem', '--tls-key', 'key.pem'];
    const ended = await molarIn(place.path, ['serve', '--port', '0', '--data', 'f', ...tls]);
    expect(ended).toMatchObject({ code: 9, stdout: '', stderr: expect.stringContaining('other-cert.pem') });
  });

  test('SIGHUP reads certificate and key again, which a group may read; what cannot be used changes nothing', async () => {
    makeCertificate('live-key.pem', 'live-cert.pem');
    await chmod(join(place.path, 'live-key.pem'), 0o640);
    const renewing = await serve(place.path, [
      ...['--data', 'g', '--tls-cert', 'live-cert.pem', '--tls-key', 'live-key.pem'],
    ]);
    const first = await shownBy(renewing);
    const open = await secureSocket(renewing);
    makeCertificate('live-key.pem', 'live-cert.pem');
    renewing.child.kill('SIGHUP');
    await expect.poll(() => shownBy(renewing)).not.toBe(first);
    const second = await shownBy(renewing);
    for (const [spoil, said] of [
      [() => makeCertificate('live-key.pem', 'elsewhere.pem'), 'cannot be used'],
      [() => chmod(join(place.path, 'live-key.pem'), 0o644), 'Everybody'],
      [() => rm(join(place.path, 'live-key.pem')), 'cannot be read'],
    ] as const) {
      const before = renewing.log().length;
      await spoil();
      renewing.child.kill('SIGHUP');
      await expect.poll(() => renewing.log().slice(before)).toMatch(new RegExp(`"level":50.*${said}`));
      expect(await shownBy(renewing)).toBe(second);
    }
    expect(open.destroyed).toBe(false);
    open.destroy();
    expect(await renewing.stop()).toBe(0);
  });

  test('half of what TLS needs is refused', async () => {
    const ended = await molarIn(place.path, ['serve', '--port', '0', '--data', 'e', '--tls-cert', 'cert.pem']);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--tls-key') });
  });
});
