import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { inspectCertificate } from '../../../src/core/doctor/certificate.ts';

const open: Server[] = [];

async function listening(server: Server): Promise<number> {
  open.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

afterEach(async () => {
  for (const server of open.splice(0)) await new Promise((done) => server.close(done));
});

describe('inspectCertificate', () => {
  it('asks the proxy for the host, with its login, and tells when it refuses', async () => {
    const asked: unknown[] = [];
    const server = createServer();
    server.on('connect', (request, socket) => {
      asked.push([request.url, request.headers['proxy-authorization']]);
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    const port = await listening(server);
    const proxy = { url: new URL(`http://ann:p%40ss@127.0.0.1:${port}`), variable: 'HTTPS_PROXY' };
    await expect(inspectCertificate(new URL('https://api.example.com'), proxy, [])).rejects.toThrow(
      `The proxy 127.0.0.1:${port} refused the connection (HTTP 407).`,
    );
    expect(asked).toEqual([['api.example.com:443', `Basic ${Buffer.from('ann:p@ss').toString('base64')}`]]);
  });

  it('rejects where nothing speaks TLS', async () => {
    const port = await listening(createServer((_, response) => response.end('plain')));
    await expect(inspectCertificate(new URL(`https://127.0.0.1:${port}`), undefined, [])).rejects.toThrow();
  });

  it('names no server by an IPv6 address, which TLS does not allow', async () => {
    const port = await listening(createServer((_, response) => response.end('plain')));
    const warnings: string[] = [];
    const note = ({ message }: Error) => void warnings.push(message);
    process.on('warning', note);
    const address = new URL(`https://[::ffff:127.0.0.1]:${port}`);
    await expect(inspectCertificate(address, undefined, [])).rejects.toThrow();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
