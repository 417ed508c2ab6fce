import { expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { ORGANIZATION, PATIENT, READER, serve, TOKEN } from '../molar.ts';
import { type Answer, type Connection, HEADERS, onSqlite, onStores, openConnections, together } from './together.ts';

const TAG = (tagText: string) => ({ tagText, tagType: 'PAYMENT_TAG', isPredefined: false });

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

await onStores('a server of two processes', (newPlace, hasDatabase) => {
  test('shows on every connection what was answered on any, and knows a revoked token nowhere', async () => {
    const { connections, path, data, end } = await together(await newPlace(), ['--rate-limit', '0']);
    const answers = async (asked: Asked) => Promise.all(connections.map((each) => each.ask(...asked)));
    try {
      for (const [at, writer] of connections.entries()) {
        const made = await writer.ask('POST', '/api/v1/transactiontags', { body: TAG(`Tag ${at}`) });
        const { id } = (JSON.parse(made.body) as { data: { id: number } }).data;
        for (const { body } of await answers(['GET', '/api/v1/transactiontags'])) expect(body).toContain(`"Tag ${at}"`);
        await writer.ask('PUT', `/api/v1/transactiontags/${id}`, { body: TAG(`Changed ${at}`) });
        for (const { body } of await answers(['GET', '/api/v1/transactiontags'])) {
          expect(body).toContain(`"Changed ${at}"`);
        }
        await writer.ask('DELETE', `/api/v1/transactiontags/${id}`);
        for (const { body } of await answers(['GET', '/api/v1/transactiontags'])) expect(body).not.toContain(`${at}"`);
        const named = await writer.ask('PUT', `/api/v1/patients/${PATIENT + at}`, { body: { lastName: 'Counted' } });
        expect(named.status, named.body).toBe(200);
        // On PostgreSQL news of a commit takes a moment to arrive at the other process (molar help reliability).
        const totals = async () => {
          const counted = await answers(['GET', '/api/v1/patients/totalcount?filter=lastName==Counted']);
          return counted.map(({ body }) => (JSON.parse(body) as { data: { total: number } }).data.total);
        };
        if (hasDatabase) await expect.poll(totals).toEqual(connections.map(() => at + 1));
        else expect(await totals()).toEqual(connections.map(() => at + 1));
      }
      const tokens = JSON.parse((await molarIn(path, ['server', 'tokens', 'list', '--json', ...data])).stdout);
      const { id } = tokens.find(({ scopes }: { scopes: string[] }) => scopes.length === 2);
      expect((await molarIn(path, ['server', 'tokens', 'revoke', id, ...data])).code).toBe(0);
      for (const { status } of await answers(['GET', '/api/v1/patients'])) expect(status).toBe(401);
    } finally {
      await end();
    }
  });

  test('serves documents, links, the stream and async deliveries on every connection; who asked is told by it', async () => {
    const { served, connections, path, data, end } = await together(await newPlace());
    try {
      const listening = new AbortController();
      const stream = await fetch(`${served.url}/api/v1/stream?lastEventId=0`, {
        headers: { ...HEADERS, accept: 'application/x-ndjson' },
        signal: listening.signal,
      });
      const told = (async () => {
        let text = '';
        for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
          text += Buffer.from(chunk).toString();
          // Routing keys have the word, too.
          if (text.match(/"operation":"READ_COMPLETE"/g)?.length === connections.length) return text;
        }
        return text;
      })();
      for (const [at, connection] of connections.entries()) {
        const content = Buffer.alloc(100_000, `${at}`).toString('base64');
        const made = await connection.ask('POST', '/api/v1/documents', {
          body: { name: `note ${at}`, mimeType: 'PDF', ownerPatient: { id: PATIENT }, file: { content } },
        });
        expect(made.status, made.body).toBe(201);
        const link = /http:\/\/[^"]+\/files\/[^"]+/.exec(made.body)?.[0] ?? '';
        const found = await (connections.at(-at) as Connection).ask('GET', link.slice(served.url.length), {
          headers: {},
        });
        expect([found.status, found.body]).toEqual([200, `${at}`.repeat(100_000)]);
        expect((await connection.ask('GET', '/api/v1/patients/async')).status).toBe(200);
      }
      expect(await told).toContain('"operation":"CREATE"');
      listening.abort();
      const forged = {
        ...HEADERS,
        'x-forwarded-for': '203.0.113.7',
        connection: 'keep-alive',
        'x-molar-caller': '{"connection":{"address":"203.0.113.7"}}',
      };
      for (const [at, connection] of connections.entries()) {
        const named = { ...forged, 'x-request-id': `read-${at}` };
        expect((await connection.ask('GET', '/api/v1/patients', { headers: named })).status).toBe(200);
        const refused = { ...forged, authorization: 'Bearer nosuch', 'x-request-id': `refused-${at}` };
        expect((await connection.ask('GET', '/api/v1/patients', { headers: refused })).status).toBe(401);
        const wrote = { ...forged, 'x-request-id': `write-${at}` };
        expect(
          (await connection.ask('POST', '/api/v1/transactiontags', { body: TAG(`${at}`), headers: wrote })).status,
        ).toBe(201);
      }
      expect(await served.stop()).toBe(0);
      const exported = (await molarIn(path, ['server', 'audit', 'export', ...data])).stdout.trim().split('\n');
      const entries = exported.map((line) => JSON.parse(line) as { requestId: string | null; address: string });
      for (const at of connections.keys()) {
        for (const kind of ['read', 'refused', 'write']) {
          const found = entries.filter(({ requestId }) => requestId === `${kind}-${at}`);
          expect(found.map(({ address }) => address)).toEqual(['127.0.0.1']);
        }
      }
      // One log, which says which process answered; each request stands in it once.
      const lines = (await served.errors)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const answered = lines.filter(({ msg, requestId }) => msg === 'answered' && /^read-/.test(requestId));
      expect(answered).toHaveLength(connections.length);
      expect(new Set(answered.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
      expect(JSON.stringify(lines)).not.toContain(TOKEN);
      expect(JSON.stringify(lines)).not.toContain(ORGANIZATION);
    } finally {
      await end();
    }
  });
});

onSqlite('a server of two processes', (newPlace) => {
  test('answers what a server of one process answers, on every connection (D59)', async () => {
    const args = ['--rate-limit', '0'];
    const alone = await together(await newPlace(), args, 1);
    const both = await together(await newPlace(), args);
    try {
      for (const asked of READS) {
        const expected = comparable(await (alone.connections[0] as Connection).ask(...asked));
        for (const connection of both.connections) {
          expect(comparable(await connection.ask(...asked)), asked.slice(0, 2).join(' ')).toEqual(expected);
        }
      }
      for (const [at, asked] of WRITES.entries()) {
        const expected = comparable(await (alone.connections[0] as Connection).ask(...asked));
        const connection = both.connections[at % both.connections.length] as Connection;
        expect(comparable(await connection.ask(...asked)), asked.slice(0, 2).join(' ')).toEqual(expected);
      }
    } finally {
      await alone.end();
      await both.end();
    }
  });
});

test('one worker is a server as ever, and a number that makes no sense is refused', async () => {
  const { path, remove } = await import('../molar.ts').then(({ workplace }) => workplace());
  try {
    const served = await serve(path, ['--data', ':memory:', '--workers', '1']);
    await Promise.all((await openConnections(served.url, 1)).map((each) => each.close()));
    expect(await served.stop()).toBe(0);
    expect(await served.errors).not.toContain('"worker"');
    for (const workers of ['0', '17', 'many', '-1', '1.5']) {
      const { code, stderr } = await molarIn(path, [
        'serve',
        '--data',
        ':memory:',
        '--port',
        '0',
        `--workers=${workers}`,
      ]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/--workers takes a whole number from 1 to 16, or auto/),
      ]);
    }
  } finally {
    await remove();
  }
});
