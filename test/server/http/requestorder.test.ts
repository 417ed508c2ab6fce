import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { serveInOrder } from '../../../src/server/http/requestorder.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server that answers when it is told to, and a connection to it that has sent requests for these paths at once. */
async function asked(...paths: readonly string[]) {
  const begun: string[] = [];
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    begun.push(request.url ?? '');
    responses.push(response);
  });
  serveInOrder(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  ends.push(
    () => socket.destroy(),
    () => server.close(),
  );
  const received: string[] = [];
  socket.setEncoding('latin1').on('data', (text: string) => received.push(text));
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
  await expect.poll(() => begun.length).toBe(1);
  return { begun, responses, socket, received: () => received.join('') };
}

/** Resolves when the server has read all that a connection sent: an answer to another connection came after it. */
async function settled(socket: Socket): Promise<void> {
  const other = connect(socket.remotePort as number, '127.0.0.1');
  ends.push(() => other.destroy());
  await once(other, 'connect');
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('requests that a connection sends at once', () => {
  it('begin one after another, each when the response before it is sent', async () => {
    const { begun, responses, socket, received } = await asked('/1', '/2', '/3');
    await settled(socket);
    expect(begun).toEqual(['/1']);
    responses[0]?.end('one');
    await expect.poll(() => begun).toEqual(['/1', '/2']);
    responses[1]?.end('two');
    await expect.poll(() => begun).toEqual(['/1', '/2', '/3']);
    responses[2]?.end('three');
    await expect.poll(() => received().match(/one|two|three/g)).toEqual(['one', 'two', 'three']);
  });

  it('wait while nobody reads the response before them', async () => {
    const { begun, responses, socket } = await asked('/large', '/next');
    socket.pause();
    // More than both ends of a connection keep for a reader.
    responses[0]?.end(Buffer.alloc(64 * 1024 * 1024));
    await settled(socket);
    expect(begun).toEqual(['/large']);
    socket.resume();
    await expect.poll(() => begun).toEqual(['/large', '/next']);
  });

  it('are not taken without end while they wait', async () => {
    const { begun, responses, socket } = await asked('/endless');
    const request = `GET /next HTTP/1.1\r\nHost: a\r\nx-long: ${'x'.repeat(8000)}\r\n\r\n`;
    // More than both ends of a connection keep for a server that reads no more.
    let sent = false;
    socket.write(request.repeat(8000), () => {
      sent = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect([sent, begun]).toEqual([false, ['/endless']]);
    responses[0]?.end('after all');
    for (let at = 1; at < 8001; at++) {
      while (responses[at] === undefined) await new Promise((resolve) => setImmediate(resolve));
      responses[at]?.end();
    }
    expect(sent).toBe(true);
  });

  it('are never done behind a response that ends the connection', async () => {
    const { begun, responses, socket } = await asked('/last', '/write');
    responses[0]?.writeHead(200, { connection: 'close' }).end('done');
    await once(socket, 'close');
    await settled(socket).catch(() => {});
    expect(begun).toEqual(['/last']);
  });

  it('are never done once the connection is closed', async () => {
    const { begun, responses, socket } = await asked('/first', '/write');
    socket.destroy();
    await once(responses[0] as ServerResponse, 'close');
    responses[0]?.end('too late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual(['/first']);
  });
});
