import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_PREFIX } from '../../../src/catalog/catalog.ts';
import { complaintsAbout } from '../../support/fuzz/answers.ts';
import { fuzz } from '../../support/fuzz/plan.ts';
import { FuzzedService } from '../../support/fuzz/requests.ts';
import { answersIn, exchange, rawRequest } from '../../support/fuzz/sockets.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';

/**
 * Milliseconds after which a connection is cut off: for uploads that are too slow, and for those that are too large, whose
 * answer a busy machine must be able to give before.
 */
const REQUEST_MS = { slow: 1500, fast: 10_000 };
const KILOBYTE = 1024;

const CREDENTIALS = `host: a\r\nauthorization: Bearer ${TOKENS.full}\r\norganization-id: ${ORGANIZATION}\r\ncontent-type: application/json\r\n`;

function head(method: string, path: string, ...headers: readonly string[]): string {
  return `${method} ${API_PREFIX}${path} HTTP/1.1\r\n${CREDENTIALS}${headers.map((line) => `${line}\r\n`).join('')}\r\n`;
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Sends a beginning and then the same piece again and again until the server closes; answers what it said. */
function keepSending(port: number, start: string, piece: string, pauseMs: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    let begun = false;
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(start);
      begun = true;
    });
    // As fast as the other side reads, or a piece after each pause; once there is an answer, slowly, until the server closes.
    const send = () => {
      if (begun && socket.writable && socket.writableLength < 512 * KILOBYTE) socket.write(piece);
    };
    let timer = setInterval(send, pauseMs);
    socket.once('data', () => {
      clearInterval(timer);
      timer = setInterval(send, 200);
    });
    socket.on('data', (bytes) => received.push(bytes));
    socket.on('error', () => {});
    socket.once('close', () => {
      clearInterval(timer);
      resolve(Buffer.concat(received));
    });
  });
}

const CHUNKED = 'transfer-encoding: chunked';
const FAST = chunk(' '.repeat(256 * KILOBYTE));

/** Uploads that never end, slow ones and fast ones, and the one answer each gets. */
const UPLOADS: readonly (readonly [name: string, start: string, piece: string, pauseMs: number, status: number])[] = [
  ['headers that come slowly', 'GET / HTTP/1.1\r\nhost: a\r\n', 'x: y\r\n', 200, 408],
  ['a request line that comes slowly', 'GET /', 'x', 200, 408],
  ['a body that comes slowly', head('POST', '/patients', 'content-length: 5000'), ' ', 200, 408],
  ['a chunked body that comes slowly', head('POST', '/patients', CHUNKED), chunk(' '), 200, 408],
  [
    'a document that comes slowly',
    `${head('POST', '/documents', CHUNKED)}${chunk('{"file":{"content":"')}`,
    chunk('AAAA'),
    200,
    408,
  ],
  ['a body without end', head('POST', '/patients', CHUNKED), FAST, 1, 413],
  [
    'a document without end',
    `${head('POST', '/documents', CHUNKED)}${chunk('{"file":{"content":"')}`,
    chunk('A'.repeat(256 * KILOBYTE)),
    1,
    413,
  ],
  [
    'a document of white space without end',
    `${head('POST', '/documents', CHUNKED)}${chunk('{"file":{"content":"')}`,
    FAST,
    1,
    413,
  ],
  [
    'a document of no base64 without end',
    `${head('POST', '/documents', CHUNKED)}${chunk('{"file":{"content":"!')}`,
    FAST,
    1,
    413,
  ],
  ['a length that is too large', head('POST', '/patients', 'content-length: 99999999999'), ' ', 200, 413],
  ['a body without end for a read', head('GET', '/patients?pageSize=1', CHUNKED), FAST, 1, 200],
  ['a body without end for an unknown route', head('POST', '/nosuch', CHUNKED), FAST, 1, 404],
];

const PACES = ['slow', 'fast'] as const;
const paceOf = (pauseMs: number) => (pauseMs === 1 ? 'fast' : 'slow');

describe.concurrent.each(PACES)('an upload that never ends and is %s', (pace) => {
  const service = new FuzzedService(true, REQUEST_MS[pace]);
  beforeAll(async () => {
    await service.open();
    await service.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await service.mustBeUnchanged(413);
    await service.goodRequest();
    await service.close();
  });

  const uploads = UPLOADS.filter(([, , , pauseMs]) => paceOf(pauseMs) === pace);
  it.each(uploads)('%s is answered and cut off', async (_name, start, piece, pauseMs, status) => {
    const { port } = service.app.server.address() as AddressInfo;
    const answers = answersIn(await keepSending(port, start, piece, pauseMs), false);
    expect(answers.map((answer) => answer.status)[0], answers[0]?.text).toBe(status);
  });
});

describe('odd bytes on a connection', () => {
  const service = new FuzzedService(false, 2_000);
  const open = () => service.app.listen({ host: '127.0.0.1', port: 0 });
  beforeAll(async () => {
    await service.open();
    await open();
  });
  afterAll(() => service.close());

  fuzz('no HTTP, or not quite', {
    share: 0.02,
    cases: rawRequest,
    renew: async () => {
      await service.renew();
      await open();
    },
    judge: async ({ method, bytes }) => {
      const { port } = service.app.server.address() as AddressInfo;
      const answers = answersIn(await exchange(port, bytes, true), method === 'HEAD');
      const complaints = answers.flatMap((answer, index) =>
        complaintsAbout(answer, method === 'HEAD' && index === 0 && answer.text === ''),
      );
      service.throwFaults(complaints);
      if (answers.every(({ status }) => status >= 300)) await service.mustBeUnchanged(answers[0]?.status ?? 0);
      else await service.delivered();
    },
  });
});
