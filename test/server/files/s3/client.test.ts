import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFiles } from '../../../../src/server/files/open.ts';
import { openClient } from '../../../../src/server/files/s3/client.ts';

const LISTING = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';

/** What a storage was asked for, by the Host and path of each request; it answers as `answer` says. */
async function asking(
  answer: RequestListener = (_asked, response) => response.writeHead(404).end(),
  requestMs?: number,
) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host?.replace(/:\d+$/, '')}${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://localhost:${(server.address() as AddressInfo).port}`;
  const client = await openClient({ AWS_ENDPOINT_URL: endpoint }, requestMs);
  const head = new HeadObjectCommand({ Bucket: 'practice', Key: 'a/b' });
  const failed: unknown = await client.send(head).catch((error: unknown) => error);
  client.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return { asked, failed };
}

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  return () => vi.unstubAllEnvs();
});

describe('a client', () => {
  it.each([
    ['by host at Amazon', {}, false],
    ['by path at Amazon when that is said', { AWS_S3_FORCE_PATH_STYLE: '1' }, true],
    ['by path at an endpoint of its own', { AWS_ENDPOINT_URL: 'http://storage' }, true],
    [
      'by host there when that is said',
      { AWS_ENDPOINT_URL: 'http://storage', AWS_S3_FORCE_PATH_STYLE: 'False' },
      false,
    ],
  ])('names a bucket %s', async (_how, env, byPath) => {
    const client = await openClient({ AWS_REGION: 'eu-central-1', ...env });
    expect(client.config.forcePathStyle).toBe(byPath);
    client.destroy();
  });

  it('asks the endpoint for a path', async () => {
    const { asked, failed } = await asking();
    expect([asked, (failed as Error).name]).toEqual([['localhost/practice/a/b'], 'NotFound']);
  });

  it('gives up three requests that are never answered', async () => {
    const { asked, failed } = await asking(() => {}, 1500);
    expect([asked.length, (failed as Error).name]).toEqual([3, 'TimeoutError']);
  });

  it('asks three times when the storage has trouble', async () => {
    const { asked, failed } = await asking((_asked, response) => response.writeHead(503).end());
    expect([asked.length, (failed as Error).name]).toEqual([3, 'Unknown']);
  });
});

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version']);
    return true;
  } catch {
    return false;
  }
})();

describe('a storage with a certificate of its own', () => {
  const runs = hasOpenssl || process.env.CI === 'true';
  let folder: string;
  let server: ReturnType<typeof createTlsServer>;
  const hashes: string[] = [];
  beforeEach((context) => {
    if (!runs) context.skip('openssl is not installed');
  });
  beforeAll(async () => {
    if (!runs) return;
    folder = await mkdtemp(join(tmpdir(), 'molar-s3-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'];
    execFileSync('openssl', [...kind, '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ method, headers }, response) => {
      if (method === 'PUT') hashes.push(String(headers['x-amz-content-sha256']));
      const length = method === 'HEAD' ? 3 : method === 'GET' ? LISTING.length : 0;
      response.writeHead(200, { 'content-type': 'application/xml', 'content-length': length });
      response.end(method === 'GET' ? LISTING : undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    vi.stubEnv('AWS_ENDPOINT_URL_S3', `https://localhost:${(server.address() as AddressInfo).port}`);
  });
  afterAll(async () => {
    if (!runs) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });

  it('is not trusted', async () => {
    vi.stubEnv('AWS_CA_BUNDLE', undefined);
    await expect(openFiles('s3://practice', folder)).rejects.toMatchObject({
      message: expect.stringMatching(/^The certificate of https:.* is not trusted: DEPTH_ZERO_SELF_SIGNED_CERT\.$/),
      next: 'Name its authority with AWS_CA_BUNDLE.',
    });
  });

  it('is trusted with AWS_CA_BUNDLE as PowerShell 5 saves it', async () => {
    const saved = join(folder, 'saved.pem');
    writeFileSync(saved, `\ufeff${readFileSync(join(folder, 'cert.pem'), 'utf8')}`, 'utf16le');
    vi.stubEnv('AWS_CA_BUNDLE', saved);
    await (await openFiles('s3://practice', folder)).close();
  });

  it('is trusted with AWS_CA_BUNDLE, and gets the hash of a body although the way is safe', async () => {
    vi.stubEnv('AWS_CA_BUNDLE', join(folder, 'cert.pem'));
    const files = await openFiles('s3://practice', folder);
    const stage = await files.stage('3f2a-original');
    await stage.write(Buffer.from('abc'));
    await stage.finish();
    await files.persist(['3f2a-original']);
    // SHA-256 of "abc", from FIPS 180.
    expect(hashes).toEqual(['ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad']);
    await files.close();
  });
});
