import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { system } from '../../../src/filesystem/system.ts';
import { shippingTarget } from '../../../src/server/audit/targets.ts';
import { need } from '../../support/capabilities.ts';
import { openBelow } from '../../support/descriptors.ts';
import { WAITING } from '../../support/evidence.ts';
import { replaceSystem } from '../../support/othersystem.ts';

let folder: string;
const closing: (() => unknown)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-targets-'));
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await rm(folder, { recursive: true });
});

const NEVER = new AbortController().signal;
const line = (text: string) => ({ at: '2026-03-02T12:00:00.000Z', text });

it.each([
  ['checkpoints.ndjson', `file:${hostname()}:${resolve('checkpoints.ndjson')}`],
  ['/var/log/molar', `file:${hostname()}:/var/log/molar`],
  ['/var/log/a://b', `file:${hostname()}:/var/log/a:/b`],
  ['syslog', 'syslog://127.0.0.1:514'],
  ['syslog://logs.example.org', 'syslog://logs.example.org:514'],
  ['syslog://logs.example.org:6514', 'syslog://logs.example.org:6514'],
  ['syslog://[2001:db8::1]:6514', 'syslog://2001:db8::1:6514'],
  ['syslog://[::1]', 'syslog://::1:514'],
  // The first 16 digits of the SHA-256 of the whole address.
  ['https://example.org/secret?x=1', 'https://example.org 5869b120cfb3c8c7'],
  ['HTTPS://example.org', 'https://example.org 8198d1bac40a1033'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080 0bc3c2f13ccd1516'],
])('%s is a target', (text, name) => {
  expect(shippingTarget(text).name).toBe(name);
});

it.each([
  'http://127.0.0.2.example.org/',
  'https://me@example.org/',
  'http://me@127.0.0.1/',
  'http://[',
  'syslog:///x',
  'file:///x',
  'syslog://',
])('%s is none', (text) => {
  expect(() => shippingTarget(text)).toThrow('--audit-checkpoints takes a file');
  const problem = { code: 'field.conflict', source: '--audit-checkpoints' };
  expect(() => shippingTarget(text)).toThrow(expect.objectContaining({ problems: [expect.objectContaining(problem)] }));
});

describe('a file', () => {
  const send = (file: string, ...texts: string[]) => shippingTarget(file).send(texts.map(line), NEVER);

  it('gets lines, each with its end, behind those that it has', async () => {
    const file = join(folder, 'checkpoints');
    await send(file, 'one', 'two');
    await send(file, 'three');
    expect(await readFile(file, 'utf8')).toBe('one\ntwo\nthree\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['', 'new\n'],
    ['\n', '\nnew\n'],
    ['old\n', 'old\nnew\n'],
    ['ol', 'ol\nnew\n'],
    ['é', 'é\nnew\n'],
  ])('with %j in it begins a line of its own', async (before, after) => {
    const file = join(folder, 'checkpoints');
    await writeFile(file, before, { mode: 0o644 });
    await send(file, 'new');
    expect(await readFile(file, 'utf8')).toBe(after);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('has them on the disk when that is told', async () => {
    const { sync } = system;
    const synced: number[] = [];
    replaceSystem({
      async sync(opened) {
        await sync(opened);
        synced.push((await opened.stat()).size);
      },
    });
    const file = join(folder, 'checkpoints');
    await send(file, 'one', 'two');
    await send(file, 'three');
    expect(synced).toEqual([8, 14]);
  });

  it('is not left open', async (context) => {
    need(context, 'proc');
    const file = join(folder, 'checkpoints');
    await send(file, 'one');
    expect(openBelow(await realpath(folder))).toEqual([]);
  });

  it('that cannot be opened is told', async () => {
    await expect(send(join(folder, 'no', 'file'), 'one')).rejects.toThrow('ENOENT');
  });
});

describe('an address of the web', () => {
  /** A receiver that answers so, and what it got. */
  async function receiving(answer: (request: IncomingMessage, number: number) => number | undefined) {
    const received: {
      readonly method: string | undefined;
      readonly type: string | undefined;
      readonly body: string;
    }[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      received.push({ method: request.method, type: request.headers['content-type'], body });
      const status = answer(request, received.length);
      if (status === undefined) return;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('x'.repeat(9999));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const target = shippingTarget(`http://127.0.0.1:${(server.address() as AddressInfo).port}/audit`);
    return { target, received };
  }

  it.each([200, 201, 204])('has what it answers with %i', async (status) => {
    const { target, received } = await receiving(() => status);
    await target.send([line('{"n":1}'), line('{"n":2}')], NEVER);
    const of = (body: string) => ({ method: 'POST', type: 'application/json', body });
    expect(received).toEqual([of('{"n":1}\n'), of('{"n":2}\n')]);
  });

  it.each([302, 400, 404, 500, 503])(
    'does not have what it answers with %i, and gets nothing behind that',
    async (status) => {
      const { target, received } = await receiving((_request, number) => (number === 2 ? status : 204));
      await expect(
        target.send(
          [1, 2, 3].map((n) => line(`${n}`)),
          NEVER,
        ),
      ).rejects.toThrow();
      expect(received.map(({ body }) => body)).toEqual(['1\n', '2\n']);
    },
  );

  it('is not waited for when that is ended', async () => {
    const ending = new AbortController();
    const { target } = await receiving(() => {
      ending.abort(new Error('over'));
      return undefined;
    });
    await expect(target.send([line('1')], ending.signal)).rejects.toThrow('over');
  });
});

it.each([
  ['127.0.0.1', 'udp4'],
  ['[::1]', 'udp6'],
] as const)('syslog at %s gets a datagram for each', async (host, type) => {
  const socket = createSocket(type);
  closing.push(() => socket.close());
  const received: string[] = [];
  socket.on('message', (message) => received.push(String(message)));
  await new Promise<void>((done) => socket.bind(0, host.replace(/[[\]]/g, ''), done));
  await shippingTarget(`syslog://${host}:${socket.address().port}`).send([line('{"n":1}'), line('{"n":2}')], NEVER);
  await expect.poll(() => received.length, WAITING).toBe(2);
  const header = `<109>1 2026-03-02T12:00:00.000Z ${hostname()} molar ${process.pid} audit-checkpoint - `;
  expect(received.sort()).toEqual([`${header}{"n":1}`, `${header}{"n":2}`]);
});
