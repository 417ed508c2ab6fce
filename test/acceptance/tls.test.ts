import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connection, molar, type Served, serve, workplace, writeFixture } from './molar.ts';

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version']);
    return true;
  } catch {
    return false;
  }
})();

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
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const files = ['-keyout', join(place.path, 'key.pem'), '-out', join(place.path, 'cert.pem')];
    const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
    execFileSync('openssl', [...kind, ...files, ...names], { stdio: 'ignore' });
    const tls = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];
    served = await serve(place.path, ['--host', '0.0.0.0', '--data', 'd', '--import', 'fixture.ndjson', ...tls]);
  });

  afterAll(async () => {
    if (!runs) return;
    await served.stop();
    await place.remove();
  });

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
    ['--ca-cert', ['--ca-cert', 'cert.pem'], {}],
    ['NODE_EXTRA_CA_CERTS', [], { NODE_EXTRA_CA_CERTS: 'cert.pem' }],
  ])('it is reached when its certificate is trusted by %s', async (_name, flags, env) => {
    const ended = await molar(place.path, ['patients', 'count', ...flags], { ...connection(served.url), ...env });
    expect(ended).toEqual({ code: 0, stdout: '3\n', stderr: '' });
  });

  test('without that the certificate is refused, with a way forward', async () => {
    const ended = await molar(place.path, ['patients', 'count'], connection(served.url));
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
    const { hostname, port } = new URL(served.url);
    const only = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0', rejectUnauthorized: false };
    const socket = connect({ host: hostname === '0.0.0.0' ? '127.0.0.1' : hostname, port: Number(port), ...only });
    const spoken = await new Promise<string | null>((done) => {
      socket.once('secureConnect', () => done(socket.getProtocol()));
      socket.once('error', () => done(null));
    });
    socket.destroy();
    expect(spoken).toBe(isSpoken ? version : null);
  });

  test('half of what TLS needs is refused', async () => {
    const ended = await molar(place.path, ['serve', '--port', '0', '--data', 'e', '--tls-cert', 'cert.pem']);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--tls-key') });
  });
});
