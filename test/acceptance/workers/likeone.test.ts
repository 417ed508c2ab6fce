import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { PATIENT, READER } from '../molar.ts';
import { type Answer, type Connection, HEADERS, onSqlite, processesOf, TAG, together } from './together.ts';

type Asked = readonly [method: string, path: string, more?: Parameters<Connection['ask']>[2]];

/** What reads and refuses: the same again and again. */
const READS: readonly Asked[] = [
  ['GET', '/api/v1/patients'],
  ['GET', '/api/v1/patients?pageSize=7&page=3'],
  ['GET', `/api/v1/patients?pageSize=5&lastId=${PATIENT + 9}&responseFields=lastName,phones`],
  ['GET', '/api/v1/patients?filter=lastName~=smi,patientStatus==ACTIVE'],
  ['GET', '/api/v1/patients?filter=nosuch==1'],
  ['GET', '/api/v1/patients?surprise=1'],
  ['GET', '/api/v1/patients/totalcount?filter=lastName~=smi'],
  ['GET', `/api/v1/patients/${PATIENT}`],
  ['GET', `/api/v1/patients/${PATIENT}/billingtypes`],
  ['GET', '/api/v1/patients/424242'],
  ['GET', '/api/v1/patients/nobody'],
  ['GET', '/api/v1/transactions'],
  ['GET', `/api/v1/patients/calculated?filter=id->[${PATIENT},${PATIENT + 1}]&responseFields=lastVisitDate`],
  ['HEAD', '/api/v1/patients'],
  ['GET', '/api/v1/patients', { headers: { ...HEADERS, 'accept-encoding': 'gzip' } }],
  ['GET', '/api/v1/patients?pageSize=2', { headers: { ...HEADERS, 'if-none-match': '*' } }],
  ['GET', '/api/v1/patients', { headers: {} }],
  ['GET', '/api/v1/patients', { headers: { ...HEADERS, authorization: 'Bearer nosuch' } }],
  ['GET', '/api/v1/patients', { headers: { authorization: HEADERS.authorization } }],
  ['GET', '/api/v1/patients', { headers: { ...HEADERS, 'organization-id': '5f3c0ffee0000000000000ff' } }],
  ['GET', '/api/v1/patients', { body: '{"a":1}' }],
  ['GET', '/api/v1/nosuch'],
  ['GET', '//nosuch'],
  ['GET', '/openapi.json'],
  ['GET', '/files/x?key=1'],
  ['PATCH', '/api/v1/patients'],
  ['POST', '/api/v1/transactiontags', { body: TAG('A'), headers: { ...HEADERS, authorization: `Bearer ${READER}` } }],
  ['POST', '/api/v1/transactiontags', { body: '{"tagText":' }],
  ['POST', '/api/v1/transactiontags', { body: { tagText: '' } }],
  ['POST', '/api/v1/transactiontags', { body: 'a=1', headers: { ...HEADERS, 'content-type': 'text/plain' } }],
  ['POST', '/api/v1/transactiontags', { body: JSON.stringify({ tagText: 'x'.repeat(2_000_000) }) }],
  ['PUT', `/api/v1/patients/${PATIENT}`, { body: { gender: 'unknown' } }],
  ['DELETE', '/api/v1/transactiontags/424242'],
];

/** What writes, in this order. */
const WRITES: readonly Asked[] = [
  ['POST', '/api/v1/transactiontags', { body: TAG('New') }],
  ['POST', '/api/v1/transactiontags', { body: TAG('Keyed'), headers: { ...HEADERS, 'idempotency-key': 'k1' } }],
  ['POST', '/api/v1/transactiontags', { body: TAG('Keyed'), headers: { ...HEADERS, 'idempotency-key': 'k1' } }],
  ['POST', '/api/v1/transactiontags', { body: TAG('new') }],
  ['PUT', `/api/v1/patients/${PATIENT}`, { body: { city: 'Elsewhere' } }],
  ['GET', `/api/v1/patients/${PATIENT}`],
  ['DELETE', '/api/v1/transactiontags/1'],
  ['GET', '/api/v1/transactiontags'],
];

/** What has to be the same: everything but times and what is chosen by chance. */
function comparable({ status, headers, body }: Answer) {
  const { date: _date, etag: _etag, 'x-request-id': _id, 'keep-alive': _keep, connection, ...others } = headers;
  // Times compress now better, now worse.
  if (others['content-encoding'] !== undefined) delete others['content-length'];
  return {
    status,
    others,
    ends: connection === 'close',
    body: body.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replace(/127\.0\.0\.1:\d+/g, 'HOST'),
  };
}

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
  test('answers what one process answers, to whatever is sent, and no process ends from it (D59)', async () => {
    const args = ['--rate-limit', '0'];
    const alone = await together(await newPlace(), args, 1);
    const both = await together(await newPlace(), args);
    try {
      const processes = processesOf(both.served);
      for (const asked of READS) {
        const expected = comparable(await (alone.connections[0] as Connection).ask(...asked));
        for (const connection of both.connections) {
          expect(comparable(await connection.ask(...asked)), asked.slice(0, 2).join(' ')).toEqual(expected);
        }
      }
      for (const head of REQUESTS) {
        const expected = await answerTo(alone.served.url, head);
        expect(expected[0]).toMatch(/^HTTP\/1\.1 \d{3} /);
        const answers = await Promise.all(Array.from({ length: SENDERS }, () => answerTo(both.served.url, head)));
        for (const answer of answers) expect(answer, head.join(' | ')).toEqual(expected);
      }
      for (const [at, asked] of WRITES.entries()) {
        const expected = comparable(await (alone.connections[0] as Connection).ask(...asked));
        const connection = both.connections[at % both.connections.length] as Connection;
        expect(comparable(await connection.ask(...asked)), asked.slice(0, 2).join(' ')).toEqual(expected);
      }
      expect(processesOf(both.served)).toEqual(processes);
    } finally {
      await alone.end();
      await both.end();
    }
  });
});
