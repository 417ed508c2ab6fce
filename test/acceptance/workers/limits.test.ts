import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { PATIENT } from '../molar.ts';
import {
  type Connection,
  onSqlite,
  onStores,
  openConnections,
  processesOf,
  type Together,
  together,
} from './together.ts';

/** Values of a metric by its labels, as one connection is told them. */
async function samples(connection: Pick<Connection, 'read'>, name: string): Promise<Record<string, number>> {
  const { body } = await connection.read('/metrics');
  const found = [...body.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)$`, 'gm'))];
  return Object.fromEntries(found.map(([, labels = '', value]) => [labels, Number(value)]));
}

/** Reads on a connection of its own. */
const readOnce =
  (url: string): Connection['read'] =>
  async (path) => {
    const response = await fetch(new URL(path, url), { headers: { connection: 'close' } });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
  };

await onStores('limits of a server of two processes (D59)', (newPlace) => {
  test('are one rate for all connections', async () => {
    const rate = 5;
    const { connections, end } = await together(await newPlace(), ['--rate-limit', String(rate)]);
    try {
      const began = performance.now();
      const asked = connections.flatMap((each) =>
        Array.from({ length: 10 }, () => each.read('/api/v1/patients?pageSize=1')),
      );
      const answers = await Promise.all(asked);
      const seconds = (performance.now() - began) / 1000;
      const answered = answers.filter(({ status }) => status === 200);
      expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
      expect(answered.length).toBeLessThanOrEqual(rate * 2 + Math.ceil(rate * seconds));
      expect(answered.length).toBeGreaterThanOrEqual(rate * 2);
      for (const { status, headers } of answers) {
        expect(headers['ratelimit-limit']).toBe(String(rate * 2));
        if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      }
    } finally {
      await end();
    }
  });

  test('and metrics are those of the whole server, whichever process is asked', async () => {
    const { connections, served, path, data, end } = await together(await newPlace());
    try {
      for (const connection of connections) {
        await connection.read('/api/v1/patients');
        await connection.read(`/api/v1/patients/${PATIENT}`);
        await connection.read('/api/v1/patients/424242');
        await connection.ask('POST', '/api/v1/transactiontags', { body: { tagText: '' } });
      }
      const count = connections.length;
      for (const connection of connections) {
        const requests = await samples(connection, 'molar_http_requests_total');
        expect(requests).toMatchObject({
          '{method="GET",route="/api/v1/patients",status="200"}': count,
          '{method="GET",route="/api/v1/patients/:id",status="200"}': count,
          '{method="GET",route="/api/v1/patients/:id",status="404"}': count,
          '{method="POST",route="/api/v1/transactiontags",status="400"}': count,
        });
        expect(Object.keys(requests).filter((labels) => labels.includes('aborted'))).toEqual([]);
        const limits = await samples(connection, 'molar_budget_limit');
        expect(limits).toMatchObject({ '{budget="connections"}': 1000, '{budget="answer-bytes"}': 64 * 1024 * 1024 });
        const used = await samples(connection, 'molar_budget_used');
        expect(used['{budget="connections"}']).toBe(count);
        const started = await samples(connection, 'process_start_time_seconds');
        expect(Math.abs(Date.now() / 1000 - (started[''] ?? 0))).toBeLessThan(600);
      }
      const stream = await fetch(`${served.url}/api/v1/stream`, {
        headers: { authorization: 'Bearer acceptance-token', 'organization-id': '5f3c0ffee0000000000000a1' },
      });
      await expect.poll(() => samples(connections[0] as Connection, 'molar_stream_listeners')).toEqual({ '': 1 });
      await stream.body?.cancel();
      const [one = 0] = processesOf(served);
      process.kill(one, 'SIGKILL');
      await expect.poll(() => processesOf(served).filter((pid) => pid !== one).length).toBe(2);
      // While there is no writer, there are no metrics either.
      await expect
        .poll(() => samples({ read: readOnce(served.url) }, 'molar_http_requests_total'))
        .toMatchObject({
          '{method="GET",route="/api/v1/patients",status="200"}': count,
          '{method="POST",route="/api/v1/transactiontags",status="400"}': count,
        });
      expect((await molarIn(path, ['server', 'audit', 'verify', ...data])).code).toBe(0);
    } finally {
      await end();
    }
  });
});

onSqlite('limits of a server of two processes (D59)', (newPlace) => {
  let shared: Together;
  beforeAll(async () => {
    shared = await together(await newPlace(), ['--max-connections', '10', '--request-timeout', '2']);
    // Each test opens its own, since they count.
    for (const connection of shared.connections) connection.close();
  });
  afterAll(() => shared.end());
  // What an earlier test has closed, a busy server may not know to be closed yet.
  beforeEach(() =>
    expect
      .poll(() => samples({ read: readOnce(shared.served.url) }, 'molar_budget_used'))
      .toMatchObject({ '{budget="connections"}': 1 }),
  );

  test('are one number of connections, and those of a process that is killed are given back', async () => {
    const { served } = shared;
    const connections = await openConnections(served.url);
    const opened: Socket[] = [];
    const open = async (): Promise<string> => {
      const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
      opened.push(socket);
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
      return new Promise((resolve) => {
        socket.once('data', (chunk) => resolve(String(chunk).slice(9, 12)));
        socket.once('error', () => resolve('error'));
        socket.once('close', () => resolve('closed'));
      });
    };
    const closeOpened = (): void => {
      for (const socket of opened.splice(0)) socket.destroy();
    };
    try {
      const more = await Promise.all(Array.from({ length: 8 }, open));
      expect(more.toSorted()).toEqual(['200', '200', '200', '200', '503', '503', '503', '503']);
      expect(await samples(connections[0] as Connection, 'molar_budget_used')).toMatchObject({
        '{budget="connections"}': 10,
      });
      expect(await samples(connections[1] as Connection, 'molar_budget_refused_total')).toMatchObject({
        '{budget="connections"}': 4,
      });
      for (const pid of processesOf(served)) process.kill(pid, 'SIGKILL');
      await expect
        .poll(async () => {
          closeOpened();
          return (await Promise.all(Array.from({ length: 8 }, open))).join(' ');
        })
        .toBe(Array(8).fill('200').join(' '));
    } finally {
      closeOpened();
      for (const connection of connections) connection.close();
    }
  });

  test('and slow or silent callers are treated as by one process', async () => {
    const { served } = shared;
    const slow = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
        socket.write('POST /api/v1/transactiontags HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{');
        const chunks: Buffer[] = [];
        for await (const chunk of socket) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).toString();
      }),
    );
    for (const text of slow) expect(text).toMatch(/^HTTP\/1\.1 (?:401|408) /);
    const headless = connect(Number(new URL(served.url).port), '127.0.0.1');
    headless.write('GET /healthz HT');
    const chunks: Buffer[] = [];
    for await (const chunk of headless) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 408 /);
  });
});
