import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { App } from '../../../src/server/http/app.ts';
import type { Service } from '../../../src/server/service.ts';
import type { LogRow } from '../../../src/server/store/store.ts';
import { LinkEnded } from '../../../src/server/workers/link.ts';
import { Readers } from '../../../src/server/workers/readers.ts';
import { type Caller, connectWriter, WriterLink } from '../../../src/server/workers/writerlink.ts';

let folder = '';
let path = '';
const opened: { close(): unknown }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-writer-'));
  path = join(folder, 'writer');
});

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await rm(folder, { recursive: true });
});

/** A writer, what it is asked to record, and the connections that are handed on to it. */
async function writer(record: (rows: readonly LogRow[]) => Promise<void> = async () => undefined) {
  const server = new EventEmitter();
  const served: Socket[] = [];
  const received: string[] = [];
  server.on('connection', (socket: Socket) => {
    served.push(socket);
    socket.on('data', (bytes) => received.push(String(bytes)));
    opened.unshift({ close: () => socket.destroy() });
  });
  const app = { server, limit: { takeShare: (caller: string) => `share of ${caller}` } };
  const readers = new Readers(app as unknown as App, { clock: Date.now, reads: { record } } as unknown as Service, {});
  await readers.listen(path);
  opened.push(readers);
  return { readers, server, served, received };
}

async function reader(): Promise<WriterLink> {
  const link = new WriterLink(path);
  opened.unshift(link);
  await link.reached;
  return link;
}

const row = (text: string): LogRow => ({ log: 'audit', values: [text] });

const CALLER: Caller = { address: '10.1.2.3', port: 4, encrypted: true, httpVersion: '1.0' };

it('appends each row once, and together those that come while others are written', async () => {
  const recorded: unknown[] = [];
  const done: (() => void)[] = [];
  await writer((rows) => {
    recorded.push(rows.map(({ values }) => values[0]));
    return new Promise((resolve) => done.push(resolve));
  });
  const link = await reader();
  const appended: string[] = [];
  const append = (...texts: string[]) => link.appendLogs(texts.map(row)).then(() => void appended.push(...texts));
  const all = [append('a', 'b'), append('c')];
  await expect.poll(() => recorded).toEqual([['a', 'b', 'c']]);
  all.push(append('d'));
  await turn();
  all.push(append('e'));
  // A question that came later is answered: only rows wait for rows.
  expect(await link.ask('rate', 'ann')).toBe('share of ann');
  expect([recorded.length, appended]).toEqual([1, []]);
  done[0]?.();
  await expect
    .poll(() => recorded)
    .toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
  expect(appended).toEqual(['a', 'b', 'c']);
  done[1]?.();
  await Promise.all(all);
  expect(appended).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('goes on with later rows where earlier ones could not be written', async () => {
  const recorded: unknown[] = [];
  await writer(async (rows) => {
    recorded.push(rows.length);
    if (recorded.length === 1) throw new Error('disk full');
  });
  const link = await reader();
  await expect(link.appendLogs([row('a')])).rejects.toThrow('disk full');
  await link.appendLogs([row('b'), row('c')]);
  expect(recorded).toEqual([1, 2]);
});

it('reaches the next writer, whatever the last one left, and says so meanwhile', async () => {
  const first = await writer();
  const link = await reader();
  expect(await link.ask('rate', 'ann')).toBe('share of ann');
  const [socket] = (first.readers as unknown as { links: Set<Socket> }).links;
  socket?.destroy();
  (first.readers as unknown as { server: { close(): void } }).server.close();
  await expect.poll(() => link.ask('rate', 'ann').catch((error: unknown) => error)).toBeInstanceOf(LinkEnded);
  // What a writer leaves that was killed: a name that nobody listens on.
  await writeFile(path, '');
  await writer();
  await expect.poll(() => link.ask('rate', 'ann').catch(() => undefined)).toBe('share of ann');
});

it('that is closed while there is no writer reaches none any more', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const link = new WriterLink(path);
  for (let left = 100; vi.getTimerCount() === 0 && left > 0; left--) await turn();
  expect(vi.getTimerCount()).toBe(1);
  link.close();
  const reached = vi.fn();
  void link.reached.then(reached);
  const { served } = await writer();
  vi.advanceTimersByTime(1000);
  // Whoever connects later is seen: the link would have been before.
  const other = connectWriter(path, { connection: CALLER });
  while (served.length === 0) await turn();
  expect(reached).not.toHaveBeenCalled();
  other.destroy();
});

it('hands on a connection with all that came on it, and whose it is', async () => {
  const { readers, server, served, received } = await writer();
  const socket = connectWriter(path, { connection: CALLER });
  const request = 'GET / HTTP/1.1\r\n\r\n';
  socket.write(request);
  await expect.poll(() => received.join('')).toBe(request);
  const [handedOn] = served as [Socket & { encrypted?: boolean }];
  const { remoteAddress, remotePort, encrypted } = handedOn;
  expect([remoteAddress, remotePort, encrypted]).toEqual(['10.1.2.3', 4, true]);
  // It is counted where it was accepted, and answered in the version that it was asked in.
  const asked = { socket: handedOn, httpVersion: '1.1' };
  server.emit('request', asked);
  expect([readers.has(handedOn), asked.httpVersion]).toEqual([true, '1.0']);
  expect(readers.has(socket)).toBe(false);
  socket.destroy();
});

it('ends after its readers', async () => {
  const { readers } = await writer();
  const link = await reader();
  expect(await link.ask('rate', 'ann')).toBe('share of ann');
  const ended = vi.fn();
  const closing = readers.close().then(ended);
  await turn();
  expect(ended).not.toHaveBeenCalled();
  link.close();
  await closing;
});
