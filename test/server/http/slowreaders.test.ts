import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeStalled } from '../../../src/server/http/slowreaders.ts';

const STALL_MS = 1200;
/** More than the system takes of an answer that nobody reads. */
const LARGE = Buffer.alloc(40 * 1024 * 1024, 'x');
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function asking(answer: RequestListener): Promise<{ socket: Socket; closedAtServer: Promise<number> }> {
  const server = createServer(answer);
  closeStalled(server, STALL_MS);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const began = performance.now();
  const closedAtServer = new Promise<number>((resolve) => {
    server.on('connection', (socket) => socket.on('close', () => resolve(performance.now() - began)));
  });
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  closing.push(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  return { socket, closedAtServer };
}

describe('a connection whose reader', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A connection that is looked at so many milliseconds after another; `taken` before each look. */
  function lookedAt(everyMs: number, taken: readonly number[]): number | undefined {
    vi.useFakeTimers({ toFake: ['performance'] });
    let look: (socket: Socket) => unknown = () => undefined;
    closeStalled({ setTimeout: (_: number, callback: typeof look) => (look = callback) } as never, 12_000);
    let destroyedAfter: number | undefined;
    const socket = {
      ...{ timeout: 1000, bytesWritten: 100_000, writableLength: 100_000 },
      setTimeout: () => undefined,
      destroy: () => {
        destroyedAfter ??= performance.now() - began;
      },
    };
    const began = performance.now();
    for (const bytes of taken) {
      vi.advanceTimersByTime(everyMs);
      socket.writableLength -= bytes;
      look(socket as never);
    }
    return destroyedAfter;
  }

  it.each([1000, 1100, 1400])('takes something between looks, %i ms apart, stays open', (everyMs) => {
    expect(lookedAt(everyMs, Array(30).fill(1))).toBeUndefined();
  });

  it('takes nothing is closed when all its time is over, counted from what it took last', () => {
    expect(lookedAt(1000, Array(30).fill(0))).toBe(12_000);
    // It was silent for a second before the look that tells that it has taken something.
    expect(lookedAt(1000, [1, 1, 1, 1, ...Array(30).fill(0)])).toBe(15_000);
  });

  it('takes parts of writes, so that Node looks later, stays open', () => {
    expect(lookedAt(1600, Array(30).fill(0))).toBeUndefined();
  });
});

describe('a reader (contract §8)', () => {
  it('that takes nothing of a large answer is closed, and not before its time', async () => {
    const { closedAtServer } = await asking((_request, response) => response.end(LARGE));
    const after = await closedAtServer;
    expect(after).toBeGreaterThanOrEqual(STALL_MS * 0.9);
    // Only a server that never looks would be so late.
    expect(after).toBeLessThan(STALL_MS * 20);
  });

  it('that takes some now and then gets everything, however long it takes', async () => {
    const { socket } = await asking((_request, response) => response.end(LARGE));
    const PART = LARGE.length / 8;
    let taken = 0;
    let pauses = 0;
    for await (const bytes of socket) {
      taken += (bytes as Buffer).length;
      if (taken >= LARGE.length) break;
      if (taken < (pauses + 1) * PART) continue;
      // Most of the time that it has, again and again: in all many times as long.
      pauses++;
      await sleep(STALL_MS * 0.6);
    }
    expect(taken).toBeGreaterThanOrEqual(LARGE.length);
    expect(pauses).toBe(7);
  });

  it('that waits for its answer, or sends its request slowly, is left alone', async () => {
    const { socket } = await asking((request, response) => {
      request.resume().on('end', async () => {
        await sleep(STALL_MS * 2.5);
        response.end('late');
      });
    });
    let text = '';
    socket.on('data', (bytes) => {
      text += String(bytes);
    });
    await expect.poll(() => text).toMatch(/late$/);
  });

  it('that keeps its connection open for another request may do so', async () => {
    const { socket } = await asking((_request, response) => response.end('done'));
    let answers = '';
    socket.on('data', (bytes) => {
      answers += String(bytes);
    });
    await expect.poll(() => answers).toContain('done');
    await sleep(STALL_MS * 2);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => answers.match(/done/g)?.length).toBe(2);
  });
});
