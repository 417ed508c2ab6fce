import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
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
