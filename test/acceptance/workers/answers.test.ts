import { expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { ORGANIZATION, PATIENT, serve, TOKEN } from '../molar.ts';
import {
  type Answer,
  type Connection,
  HEADERS,
  onStores,
  openConnections,
  TAG,
  type Together,
  together,
} from './together.ts';

/** What is answered to the same request on each connection. */
const onEach = ({ connections }: Together, path: string): Promise<Answer[]> =>
  Promise.all(connections.map((each) => each.ask('GET', path)));

/** Changes that are made on one connection are seen on all. */
async function expectChangesOnEach(server: Together, hasDatabase: boolean): Promise<void> {
  const { connections } = server;
  for (const [at, writer] of connections.entries()) {
    const made = await writer.ask('POST', '/api/v1/transactiontags', { body: TAG(`Tag ${at}`) });
    const { id } = (JSON.parse(made.body) as { data: { id: number } }).data;
    for (const { body } of await onEach(server, '/api/v1/transactiontags')) expect(body).toContain(`"Tag ${at}"`);
    await writer.ask('PUT', `/api/v1/transactiontags/${id}`, { body: TAG(`Changed ${at}`) });
    for (const { body } of await onEach(server, '/api/v1/transactiontags')) {
      expect(body).toContain(`"Changed ${at}"`);
    }
    await writer.ask('DELETE', `/api/v1/transactiontags/${id}`);
    for (const { body } of await onEach(server, '/api/v1/transactiontags')) expect(body).not.toContain(`${at}"`);
    const named = await writer.ask('PUT', `/api/v1/patients/${PATIENT + at}`, { body: { lastName: 'Counted' } });
    expect(named.status, named.body).toBe(200);
    // On PostgreSQL news of a commit takes a moment to arrive at the other process (molar help reliability).
    const totals = async () => {
      const counted = await onEach(server, '/api/v1/patients/totalcount?filter=lastName==Counted');
      return counted.map(({ body }) => (JSON.parse(body) as { data: { total: number } }).data.total);
    };
    if (hasDatabase) await expect.poll(totals).toEqual(connections.map(() => at + 1));
    else expect(await totals()).toEqual(connections.map(() => at + 1));
  }
}

async function expectDocumentsAndStream({ served, connections }: Together): Promise<void> {
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
}

/** Requests that pretend to come from elsewhere: `read-0`, `refused-0` and `write-0` on the first connection. */
async function pretend({ connections }: Together): Promise<void> {
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
}

await onStores('a server of two processes', (newPlace, hasDatabase) => {
  test('answers alike on every connection, tells who asked, and knows a revoked token nowhere', async () => {
    const server = await together(await newPlace(), ['--rate-limit', '0']);
    const { served, connections, path, data, end } = server;
    try {
      await expectChangesOnEach(server, hasDatabase);
      await expectDocumentsAndStream(server);
      await pretend(server);
      const tokens = JSON.parse((await molarIn(path, ['server', 'tokens', 'list', '--json', ...data])).stdout);
      const { id } = tokens.find(({ scopes }: { scopes: string[] }) => scopes.length === 2);
      expect((await molarIn(path, ['server', 'tokens', 'revoke', id, ...data])).code).toBe(0);
      for (const { status } of await onEach(server, '/api/v1/patients')) expect(status).toBe(401);
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
