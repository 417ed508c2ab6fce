import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ORGANIZATION } from '../acceptance/molar.ts';
import { type Asked, Connections, dataOf } from '../acceptance/torture/request.ts';

/** A client that behaves badly until it is told to stop, and what came of it. */
export type Villain = (url: string, token: string, stop: AbortSignal) => Promise<string>;

/** Opens a connection of its own, writes the head of a request, and leaves everything else to the caller. */
function open(url: string, token: string, line: string, headers: readonly string[] = []): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  const head = [
    line,
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    `Organization-ID: ${ORGANIZATION}`,
    ...headers,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return socket;
}

const until = (stop: AbortSignal, ms = 2 ** 30) => sleep(ms, undefined, { signal: stop }).catch(() => undefined);

/** Asks for every message of the stream and takes a few bytes a second. */
export const slowListener: Villain = async (url, token, stop) => {
  const socket = open(url, token, 'GET /api/v1/stream?lastEventId=0 HTTP/1.1');
  let bytes = 0;
  socket.pause();
  while (!stop.aborted) {
    await until(stop, 1000);
    bytes += (socket.read(512) as Buffer | null)?.length ?? 0;
  }
  socket.destroy();
  return `a slow listener took ${bytes} bytes`;
};

/** Asks for large pages, one after another on one connection, and never takes an answer. */
export const deafReader: Villain = async (url, token, stop) => {
  const line = 'GET /api/v1/patients?lastId=0&pageSize=500 HTTP/1.1';
  const sockets = Array.from({ length: 5 }, () => open(url, token, line));
  for (const socket of sockets) socket.pause();
  await until(stop);
  for (const socket of sockets) socket.destroy();
  return `${sockets.length} readers took no answer`;
};

/** Begins an upload of ten megabytes, sends a little, and waits; begins again when it is turned away. */
export const stalledUpload: Villain = async (url, token, stop) => {
  const statuses: string[] = [];
  while (!stop.aborted) {
    const headers = ['Content-Type: application/json', 'Content-Length: 10000000'];
    const socket = open(url, token, 'POST /api/v1/documents HTTP/1.1', headers);
    socket.write(`{"name":"stalled","mimeType":"PDF","file":{"content":"${'AAAA'.repeat(1000)}`);
    const answered = new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(String(chunk).split(' ')[1] ?? ''));
      socket.once('close', () => resolve('closed'));
    });
    const status = await Promise.race([answered, until(stop).then(() => undefined)]);
    if (status !== undefined) statuses.push(status);
    socket.destroy();
  }
  return `stalled uploads were answered ${statuses.join(', ') || 'not at all'}`;
};

/** Reads every patient and every message, again and again, as fast as it is given. */
export const giantExport: Villain = async (url, token, stop) => {
  const connections = new Connections(url, token);
  let rows = 0;
  let refused = 0;
  for (let lastId = 0; !stop.aborted; ) {
    const asked: Asked = { method: 'GET', path: `/patients?lastId=${lastId}&pageSize=500` };
    const answer = await connections.send(asked);
    if (answer?.status !== 200) {
      refused++;
      await until(stop, 1000);
      continue;
    }
    const page = dataOf(answer) as { id: number }[];
    rows += page.length;
    lastId = page.at(-1)?.id ?? 0;
  }
  await connections.close();
  return `an export read ${rows} patients, and was told to wait ${refused} times`;
};

export const VILLAINS: readonly Villain[] = [slowListener, deafReader, stalledUpload, giantExport, giantExport];
