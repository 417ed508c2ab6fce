import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { API_PREFIX } from '../../../src/catalog/catalog.ts';
import type { Called } from '../calls.ts';
import { ORGANIZATION, TOKENS } from '../ids.ts';
import { calledOf } from './called.ts';
import { header, METHODS, path } from './headers.ts';

/** Bytes as they go over a connection. */
export interface RawRequest {
  readonly method: string;
  readonly bytes: Buffer;
}

const CREDENTIALS = `authorization: Bearer ${TOKENS.full}\r\norganization-id: ${ORGANIZATION}\r\n`;

const VERSIONS = [...Array(12).fill('HTTP/1.1'), 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 ', 'http/1.1', ''];

const ODD_HEADERS = [
  'x-odd: \u0001\r\n',
  'x-odd : a\r\n',
  ': a\r\n',
  'x-odd\r\n',
  'x-\u00e9: a\r\n',
  ' folded\r\n',
  'x-odd: a\n',
  'x-odd: a\r',
  'x-odd: a\0b\r\n',
  'expect: 100-continue\r\n',
  'expect: nosuch\r\n',
  'expect: 100-continue, nosuch\r\n',
  'transfer-encoding: chunked\r\ncontent-length: 5\r\n',
  'transfer-encoding: chunked, chunked\r\n',
  'content-length: 5\r\ncontent-length: 6\r\n',
  'content-length: +5\r\n',
  'host: a\r\nhost: b\r\n',
  `x-many: a\r\n`.repeat(2500),
  `x-huge: ${'x'.repeat(70_000)}\r\n`,
  'connection: upgrade\r\nupgrade: websocket\r\n',
  'connection: upgrade, http2-settings\r\nupgrade: h2c\r\n',
];

const PAYLOADS = [
  '',
  '{}',
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'zz\r\n',
  'FFFFFFFFFFFFFFFF\r\n',
  `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  'G\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  '{"a":\xff\xfe}',
  '\0'.repeat(50),
];

const headersOf = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: header.map(([name, value]) => `${name}: ${value}\r\n`) },
    { weight: 2, arbitrary: fc.constantFrom(...ODD_HEADERS) },
  ),
  { maxLength: 3 },
);

const noise = fc.constantFrom(
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\r\n\r\n\r\n',
  'GET\r\n\r\n',
  '\xff\xfe\xfd',
  'GET / HTTP/9.9\r\n\r\n',
  `${'A'.repeat(70_000)} / HTTP/1.1\r\n\r\n`,
  'GET /\u00e9\u00ff HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /a b HTTP/1.1\r\nhost: a\r\n\r\n',
  `GET http://evil.example${API_PREFIX}/patients HTTP/1.1\r\nhost: a\r\n\r\n`,
  'CONNECT evil.example:443 HTTP/1.1\r\nhost: a\r\n\r\n',
);

/** Requests as no client library would send them. */
export const rawRequest: fc.Arbitrary<RawRequest> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...METHODS),
        path,
        fc.constantFrom(...VERSIONS),
        fc.constantFrom('host: a\r\n', 'host: a\r\n', 'host: a\r\n', ''),
        fc.boolean(),
        headersOf,
        fc.constantFrom(...PAYLOADS),
      )
      .map(([method, url, version, host, right, headers, payload]) => {
        const head = `${method} ${url} ${version}\r\n${host}${right ? CREDENTIALS : ''}${headers.join('')}\r\n`;
        return { method, bytes: Buffer.from(head + payload, 'latin1') };
      }),
  },
  { weight: 1, arbitrary: noise.map((text) => ({ method: '', bytes: Buffer.from(text, 'latin1') })) },
);

/** Sends bytes and then, when `ends`, the end; answers everything that came until the other side closed. */
export function exchange(port: number, bytes: Buffer, ends: boolean): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket: Socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes);
      if (ends) socket.end();
    });
    socket.setTimeout(120_000, () => socket.destroy(new Error('The server neither answered nor closed.')));
    socket.on('data', (chunk) => received.push(chunk));
    socket.once('close', () => resolve(Buffer.concat(received)));
    // A connection that is reset has nothing more to say.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
  });
}

/** The answers of a connection, in their order; throws when the bytes are no HTTP. `head`: the first has no body. */
export function answersIn(bytes: Buffer, head: boolean): Called[] {
  const answers: Called[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    const lines = rest.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) [A-Z]/.exec(lines[0] ?? '')?.[1]);
    if (end < 0 || !(status >= 100)) throw new Error(`No HTTP: ${rest.toString('latin1').slice(0, 300)}`);
    rest = rest.subarray(end + 4);
    if (status < 200) continue;
    const headers = Object.fromEntries(
      lines.slice(1).map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    // An answer to what followed a HEAD may come instead of its own.
    const isHead = head && answers.length === 0 && rest[0] !== 0x7b;
    const length = isHead
      ? 0
      : headers['content-length'] === undefined
        ? rest.length
        : Number(headers['content-length']);
    if (length > rest.length) throw new Error(`An answer of ${length} bytes ends after ${rest.length}.`);
    answers.push(calledOf(status, headers, rest.subarray(0, length)));
    rest = rest.subarray(length);
  }
  return answers;
}
