import { connect } from 'node:net';
import sql from 'sql-template-tag';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';

const service = sharedService(bareRecords);
let port: number;
beforeAll(async () => {
  port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => service.app.close());

const HEAD = `POST /api/v1/transactiontags HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKENS.full}\r\nOrganization-ID: ${ORGANIZATION}\r\nContent-Type: application/json\r\n`;
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;

let made = 0;

/** A write, whole, in either form; `text` is what it stores. */
function write(form: 'length' | 'chunked'): { readonly bytes: string; readonly text: string } {
  const text = `Tag ${++made}`;
  const body = JSON.stringify({ tagText: text, tagType: 'PAYMENT_TAG', isPredefined: false });
  const sent = form === 'length' ? `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}` : chunks(CHUNKED, body);
  return { bytes: sent, text };
}

function chunks(head: string, body: string): string {
  const [one, two] = [body.slice(0, 9), body.slice(9)];
  return `${head}${[one, two, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}`;
}

/** What no parser takes, and the statuses that may come behind the answers of what was whole. */
const BAD: readonly (readonly [what: string, bytes: string, statuses: readonly number[]])[] = [
  ['no HTTP', 'nonsense\r\n\r\n', [400]],
  ['bytes of a TLS handshake', '\x16\x03\x01\x02\x00\x01', [400]],
  ['a chunk whose length is no number', `${CHUNKED}zz\r\n`, [400]],
  ['a bad chunk behind a good one', `${CHUNKED}2\r\n{}\r\nzz\r\n`, [400]],
  ['a chunk that is longer than it says', `${CHUNKED}2\r\n{"tagText":1}\r\n0\r\n\r\n`, [400]],
  ['a chunk beyond all numbers', `${CHUNKED}FFFFFFFFFFFFFFFFF\r\n`, [400]],
  ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, [400]],
  ['a length and chunks', `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`, [400]],
  ['a header with NUL', 'GET /healthz HTTP/1.1\r\nHost: a\0\r\n\r\n', [400]],
  ['a header without a colon', 'GET /healthz HTTP/1.1\r\nHost\r\n\r\n', [400]],
  ['headers without end', `GET /healthz HTTP/1.1\r\nx: ${'x'.repeat(70_000)}`, [431]],
  ['an expectation', `${HEAD}Expect: nosuch\r\nContent-Length: 2\r\n\r\n{}`, [417]],
  ['an expectation and no HTTP', `${HEAD}Expect: nosuch\r\nContent-Length: 2\r\n\r\n{}nonsense`, [417]],
  ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', [400]],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', [400]],
  [
    'a bad chunk of a request that is refused at its head',
    'POST /nosuch HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    [400, 404],
  ],
  [
    'a bad chunk of a request that needs no body',
    'GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    [200, 400],
  ],
];

/** Statuses in the order of the answers to what is sent, part by part, until the server closes. */
async function statusesOf(parts: readonly string[]): Promise<number[]> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
  });
  const closed = new Promise<void>((resolve, reject) => {
    socket.once('close', () => resolve());
    socket.once(
      'error',
      (error: NodeJS.ErrnoException) => error.code === 'EPIPE' || error.code === 'ECONNRESET' || reject(error),
    );
    socket.setTimeout(60_000, () => reject(new Error(`The connection stays open after: ${received}`)));
  });
  for (const part of parts) {
    await new Promise<void>((resolve) => socket.write(part, 'latin1', () => resolve()));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** The texts of all tags, as the database has them. */
async function stored(): Promise<string[]> {
  const rows = await service.service.store.read.all<{ json: string }>(sql`SELECT json FROM transactiontags`);
  return rows.map(({ json }) => JSON.parse(json).tagText as string);
}

describe.each(['length', 'chunked'] as const)('a write with its body by %s', (form) => {
  it.each(BAD)('is answered as it ended, whatever is behind it: %s', async (_what, bad, statuses) => {
    const texts: string[] = [];
    const split = async (cut: (length: number) => readonly number[], writes: number) => {
      const good = Array.from({ length: writes }, () => write(form));
      texts.push(...good.map(({ text }) => text));
      const all = good.map(({ bytes }) => bytes).join('') + bad;
      const places = [0, ...cut(all.length - bad.length), all.length];
      const found = await statusesOf(places.slice(1).map((end, at) => all.slice(places[at], end)));
      const behind = found.slice(writes);
      expect([found.slice(0, writes), behind.length, places]).toEqual([Array(writes).fill(201), 1, places]);
      expect(statuses).toContain(behind[0]);
    };
    // At once, at many places around the end of the good one and in the bad one, and byte by byte there.
    for (const writes of [1, 3]) await split(() => [], writes);
    const places = [-200, -60, -9, -3, -2, -1, 0, 1, 2, 5, 30, 130, 160, Math.floor(bad.length / 2), bad.length - 1];
    for (const at of places.filter((each) => each < bad.length)) await split((end) => [end + at], 1);
    await split((end) => Array.from({ length: 12 }, (_, at) => end - 6 + at).filter((at) => at < end + bad.length), 1);
    const kept = await stored();
    expect(texts.filter((text) => kept.filter((each) => each === text).length !== 1)).toEqual([]);
  });
});

it.each(['length', 'chunked'] as const)(
  'what comes behind a body by %s that is too large is answered',
  async (form) => {
    const body = JSON.stringify({ tagText: 'x'.repeat(1024 * 1024) });
    const large = form === 'length' ? `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}` : chunks(CHUNKED, body);
    const { bytes, text } = write('length');
    const end = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    expect(await statusesOf([large, bytes, end])).toEqual([413, 201, 200]);
    expect(await stored()).toContain(text);
  },
);
