import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { openNetwork } from '../../../src/core/transport/network.ts';
import { proxyFor } from '../../../src/core/transport/proxy.ts';
import { ConnectionFailure } from '../../../src/core/transport/send.ts';
import { AUTHORITY, CertificateFolder, hasOpenssl } from '../../support/certificates.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

/** A proxy that makes a way through to a port of this machine, or answers with a status, and what it was asked. */
async function startProxy(way: { readonly to: number } | { readonly status: number }) {
  const asked: string[] = [];
  const proxy = createServer().on('connect', (request, client) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    client.on('error', () => undefined);
    if ('status' in way) return client.end(`HTTP/1.1 ${way.status} No\r\n\r\n`);
    const target = connect(way.to, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    target.on('error', () => client.destroy());
    client.on('close', () => target.destroy());
    return target.pipe(client).pipe(target);
  });
  return { port: await listen(proxy), asked };
}

async function get(url: string, env: Record<string, string>, certificates: readonly string[] = []): Promise<string> {
  const network = openNetwork({ proxyFor: (address) => proxyFor(address, env), certificates });
  try {
    const response = await network.send({ method: 'GET', url, headers: {} });
    let text = '';
    for await (const chunk of response.body) text += Buffer.from(chunk).toString();
    return `${response.status} ${text}`;
  } finally {
    await network.close();
  }
}

describe('a proxy', () => {
  it('carries requests, with its own user and password', async () => {
    const port = await listen(
      createServer((request, response) => response.end(`${request.headers.host}${request.url}`)),
    );
    const proxy = await startProxy({ to: port });
    const env = { HTTP_PROXY: `ann:hush@127.0.0.1:${proxy.port}` };
    expect(await get('http://api.example.com/x', env)).toBe('200 api.example.com/x');
    expect(proxy.asked).toEqual([`api.example.com:80 Basic ${Buffer.from('ann:hush').toString('base64')}`]);
  });

  it('does not see what is for this machine', async () => {
    const port = await listen(createServer((_request, response) => response.end('here')));
    const proxy = await startProxy({ status: 500 });
    expect(await get(`http://127.0.0.1:${port}/`, { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` })).toBe('200 here');
    expect(proxy.asked).toEqual([]);
  });

  it('lets --ca-cert vouch for the server behind it', async (context) => {
    if (!hasOpenssl) return context.skip('openssl is not installed');
    const folder = await mkdtemp(join(tmpdir(), 'molar-throughproxy-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const made = new CertificateFolder(folder);
    made.make('ca', '/CN=Practice CA', AUTHORITY);
    made.make('server', '/CN=api.example.com', 'subjectAltName=DNS:api.example.com', 'ca');
    const port = await listen(createSecureServer(made.pem('server'), (_request, response) => response.end('inside')));
    const proxy = await startProxy({ to: port });
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    expect(await get('https://api.example.com/', env, [made.pem('ca').cert])).toBe('200 inside');
    await expect(get('https://api.example.com/', env)).rejects.toThrow('Certificate not trusted');
  });

  it.each([
    ['refuses', 407, 'the proxy of HTTPS_PROXY (HTTP 407).'],
    ['cannot reach the server', 502, 'the proxy of HTTPS_PROXY (HTTP 502).'],
  ])('that %s is told apart from the server, and nothing has been sent', async (_name, status, says) => {
    const proxy = await startProxy({ status });
    const env = { HTTPS_PROXY: `http://ann:hush@127.0.0.1:${proxy.port}` };
    const failure: unknown = await get('https://api.example.com/', env).catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(ConnectionFailure);
    expect(failure).toMatchObject({ sent: false, message: expect.stringContaining(says) });
    expect((failure as Error).message).not.toContain('hush');
  });

  it('that does not answer is named', async () => {
    const port = await listen(createServer());
    await new Promise((done) => servers.pop()?.close(done));
    const failure = get('https://api.example.com/', { HTTPS_PROXY: `127.0.0.1:${port}` });
    await expect(failure).rejects.toThrow(`Connection refused: 127.0.0.1:${port}, the proxy of HTTPS_PROXY.`);
  });

  it('that is no address ends the request before it is sent', async () => {
    const failure = get('https://api.example.com/', { HTTPS_PROXY: 'ftp://ann:hush@proxy' });
    await expect(failure).rejects.toMatchObject({ code: 'usage.connection', exitCode: 2 });
  });
});
