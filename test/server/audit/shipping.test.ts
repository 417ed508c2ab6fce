import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shippingTarget } from '../../../src/server/audit/targets.ts';
import { lastNumber, minute, problemsOf, writeEntry } from '../../support/evidence.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

let folder: string;
let faults: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-shipping-'));
  faults = [];
});
afterEach(() => rm(folder, { recursive: true }));

/** A service whose data stays when it is closed; SQLite, since no store has a part in how things are shipped. */
function open(auditCheckpoints: string, first = true): Promise<TestService> {
  const onAuditFault = (what: string) => void faults.push(what);
  return testService(first ? bareRecords() : [], {
    data: join(folder, 'data'),
    audit: { auditCheckpoints, onAuditFault },
  });
}

const waiting = (service: TestService) => service.keeper.metrics()[0]?.read();
const numbersIn = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { number: number }).number);
const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

describe('a file', () => {
  it('gets a line for each checkpoint, the one of the stop included, over restarts', async () => {
    const file = join(folder, 'checkpoints');
    const first = await open(file);
    await minute(first);
    await writeEntry(first);
    await first.close();
    const stopped = await numbersIn(file);
    expect(stopped).toEqual(upTo(3));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const second = await open(file, false);
    await writeEntry(second);
    await minute(second);
    const last = await lastNumber(second);
    expect(last).toBeGreaterThan(3);
    await expect.poll(() => numbersIn(file)).toEqual(upTo(last));
    await expect.poll(() => waiting(second)).toBe(0);
    expect(await problemsOf(second, { shipped: file })).toEqual([]);
    await second.close();
  });

  it('that cannot be written is waited for, and gets what it has missed', async () => {
    const file = join(folder, 'not-yet', 'checkpoints');
    const service = await open(file);
    await expect.poll(() => faults).toContain('shipping');
    expect(await waiting(service)).toBe(1);
    await minute(service);
    expect(await waiting(service)).toBe(2);
    await mkdir(join(folder, 'not-yet'));
    await expect.poll(() => waiting(service)).toBe(0);
    expect(await numbersIn(file)).toEqual([1, 2]);
    await service.close();
  });

  it('that could not be written before a stop gets it after the next start', async () => {
    const file = join(folder, 'dir', 'checkpoints');
    await (await open(file)).close();
    await mkdir(join(folder, 'dir'));
    const service = await open(file, false);
    const last = await lastNumber(service);
    await expect.poll(() => numbersIn(file).catch(() => [])).toEqual(upTo(last));
    await service.close();
  });

  it('whose last line a crash cut short goes on with a line of its own', async () => {
    const file = join(folder, 'checkpoints');
    await (await open(file)).close();
    const kept = await readFile(file, 'utf8');
    await writeFile(file, `${kept}{"number":3,"at":"20`);
    const service = await open(file, false);
    await writeEntry(service);
    await service.close();
    const [first, second, cut, third] = (await readFile(file, 'utf8')).split('\n');
    expect(`${first}\n${second}\n`).toBe(kept);
    expect(cut).toBe('{"number":3,"at":"20');
    expect(JSON.parse(third ?? '')).toMatchObject({ number: 3 });
    const again = await open(file, false);
    expect(await problemsOf(again, { shipped: file })).toEqual([]);
    await again.close();
  });
});

describe('https, here http on this machine', () => {
  it('gets each as a POST, and again what it did not accept, in order', async () => {
    const received: { method?: string | undefined; type?: string | undefined; number: number }[] = [];
    let status = 503;
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { number } = JSON.parse(body) as { number: number };
      if (status === 204) received.push({ method: request.method, type: request.headers['content-type'], number });
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const service = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/audit`);
    await expect.poll(() => faults).toContain('shipping');
    await minute(service);
    expect(await waiting(service)).toBe(2);
    status = 204;
    await expect.poll(() => waiting(service)).toBe(0);
    expect(received).toEqual([1, 2].map((number) => ({ method: 'POST', type: 'application/json', number })));
    await service.close();
    server.close();
  });
});

it('a receiver that never answers holds no stop up', async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const began = performance.now();
  await service.close();
  expect(performance.now() - began).toBeLessThan(9000);
  server.closeAllConnections();
  server.close();
});

describe('syslog', () => {
  it('gets each as RFC 5424, and it waits while nobody listens', async () => {
    const socket = createSocket('udp4');
    await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
    const { port } = socket.address();
    const received: string[] = [];
    socket.close();
    await once(socket, 'close');
    const service = await open(`syslog://127.0.0.1:${port}`);
    await expect.poll(() => faults).toContain('shipping');
    const later = createSocket('udp4').on('message', (message) => received.push(message.toString()));
    await new Promise<void>((done) => later.bind(port, '127.0.0.1', done));
    await expect.poll(() => waiting(service)).toBe(0);
    // PRI, version, time, host, application, process, kind, no structured data, message.
    const form = /^<109>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S+ molar \d+ audit-checkpoint - (\{.*\})$/;
    const [, json = ''] = form.exec(received[0] ?? '') ?? [];
    expect(JSON.parse(json)).toMatchObject({ number: 1, id: 0 });
    await service.close();
    later.close();
  });
});

it('any other target is refused', () => {
  const targets = [
    'http://example.org/x',
    'https://me:secret@example.org/',
    'ftp://example.org/',
    'syslog://',
    'https://',
  ];
  for (const target of targets) {
    expect(() => shippingTarget(target)).toThrow('--audit-checkpoints takes a file');
    expect(() => shippingTarget(target)).not.toThrow('secret');
  }
});
