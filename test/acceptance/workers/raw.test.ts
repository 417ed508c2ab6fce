import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { HEADERS, onSqlite, processesOf, together } from './together.ts';

/** So many that every process has some, whichever it is that is given more of them. */
const SENDERS = 6;

const KNOWN = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);

/** Requests as the bytes of their heads, which no client library sends. */
const REQUESTS: readonly (readonly string[])[] = [
  ['GET /healthz HTTP/1.1', 'Host: a', 'Trailer: X'],
  ['GET /healthz HTTP/1.1', 'Host: a', 'TE: trailers', 'Trailer: X', 'Upgrade: websocket'],
  ['POST /api/v1/transactiontags HTTP/1.1', 'Host: a', 'Trailer: X', 'Content-Length: 0', ...KNOWN],
  ['GET /h\u00e4lth\u0001 HTTP/1.1', 'Host: a'],
  ['GET /healthz HTTP/1.0'],
  ['GET /healthz HTTP/1.1'],
  ['GET /api/v1/patients/424242 HTTP/1.0', ...KNOWN],
  ['GET /api/v1/patients/424242 HTTP/1.1', ...KNOWN],
  ['POST /api/v1/patients/424242 HTTP/1.0', ...KNOWN],
  ...['POST', 'PUT', 'DELETE', 'PATCH'].map((method) => [
    `${method} /api/v1/transactiontags${method === 'POST' ? '' : '/424242'} HTTP/1.1`,
    'Host: a',
    ...KNOWN,
  ]),
  ['GET /healthz HTTP/1.1', 'Host: a', 'X-Odd: \u00e4\u0080'],
];

/** Status line and body of the answer to one request on a connection of its own. */
async function answerTo(url: string, head: readonly string[]): Promise<string[]> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const [, status = '', body = ''] = /^(.*?)\r\n.*?\r\n\r\n(.*)$/s.exec(Buffer.concat(chunks).toString()) ?? [];
  return [status, body];
}

onSqlite('a server of two processes', (newPlace) => {
  test('answers what one process answers to whatever is sent, and no process ends from it (D59)', async () => {
    const alone = await together(await newPlace(), [], 1);
    const both = await together(await newPlace());
    try {
      const processes = processesOf(both.served);
      for (const head of REQUESTS) {
        const expected = await answerTo(alone.served.url, head);
        expect(expected[0]).toMatch(/^HTTP\/1\.1 \d{3} /);
        const answers = await Promise.all(Array.from({ length: SENDERS }, () => answerTo(both.served.url, head)));
        for (const answer of answers) expect(answer, head.join(' | ')).toEqual(expected);
      }
      expect(processesOf(both.served)).toEqual(processes);
    } finally {
      await alone.end();
      await both.end();
    }
  });
});
