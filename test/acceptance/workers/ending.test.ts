import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isRunning } from '../../support/processes.ts';
import { molarIn } from '../inprocess.ts';
import { molar, PATIENT, RUN, serve, workplace, writeFixture } from '../molar.ts';
import { Connection, onSqlite, onStores, processesOf, together } from './together.ts';

const TAG = (tagText: string) => ({ tagText, tagType: 'PAYMENT_TAG', isPredefined: false });

await onStores('a server of two processes (D59)', (newPlace) => {
  test('drops nothing when it is asked to end, and leaves nothing behind', async () => {
    const drain = ['--drain-time', '2', '--rate-limit', '0'];
    const { served, path, data, connections, end } = await together(await newPlace(), drain);
    try {
      const processes = processesOf(served);
      const failed: unknown[] = [];
      let isReady = true;
      let made = 0;
      const clients = Array.from({ length: 6 }, async (_, client) => {
        let connection = new Connection(served.url);
        for (let round = 0; isReady; round++) {
          const asked =
            round % 2 === 0
              ? connection.read(`/api/v1/patients/${PATIENT + client}`)
              : connection.ask('POST', '/api/v1/transactiontags', { body: TAG(`${client} ${round}`) });
          const answer = await asked.catch((error: unknown) => void failed.push(error));
          // Clients are there all the time that the server takes; they need not ask as fast as they can.
          await sleep(10);
          if (answer?.status === 201) made++;
          else if (answer?.status !== 200) failed.push(answer);
          if (answer?.headers.connection === 'close') {
            connection.close();
            connection = new Connection(served.url);
          }
        }
        connection.close();
      });
      await sleep(500);
      const ended = served.stop('SIGTERM');
      // What a proxy does: it stops sending when it has been told.
      const probe = new Connection(served.url);
      await expect.poll(async () => (await probe.read('/readyz')).status).toBe(503);
      await sleep(500);
      isReady = false;
      await Promise.all(clients);
      probe.close();
      for (const connection of connections) connection.close();
      expect(await ended).toBe(0);
      expect(failed).toEqual([]);
      expect(processes.filter(isRunning)).toEqual([]);
      const check = await molarIn(path, ['server', 'audit', 'export', ...data]);
      const entries = check.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { operation: string });
      expect(made).toBeGreaterThan(0);
      expect(entries.filter(({ operation }) => operation === 'transactiontags.create')).toHaveLength(made);
    } finally {
      await end();
    }
  });
});

onSqlite('a server of two processes (D59)', (newPlace) => {
  test('leaves it to the process that was started to end, whoever else gets the signal', async () => {
    const { served, connections, end } = await together(await newPlace());
    try {
      for (const pid of processesOf(served))
        for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.kill(pid, signal);
      for (const connection of connections) expect((await connection.read('/api/v1/patients')).status).toBe(200);
      // As a terminal does at Ctrl-C.
      for (const pid of processesOf(served)) process.kill(pid, 'SIGINT');
      expect(await served.stop('SIGINT')).toBe(0);
    } finally {
      await end();
    }
  });

  test('that cannot start says why as one process does, with the same exit code', async () => {
    // Whoever holds the port and the data may be one process.
    const { served, path, data, end } = await together(await newPlace(), [], 1);
    const { port } = new URL(served.url);
    const other = ['--database', 'postgres://nobody@127.0.0.1:1/none', '--files', 'f'];
    try {
      for (const args of [
        ['--data', 'other', '--port', port],
        ['--data', 'missing', '--import', 'nosuch.ndjson', '--port', '0'],
        [...other, '--port', '0'],
        [...data, '--port', '0'],
      ]) {
        const line = ['serve', ...args, '--log-level', 'silent'];
        const alone = await molarIn(path, line);
        const both = await molar(path, [...line, '--workers', '2']);
        expect(both).toEqual(alone);
        expect(both.code).not.toBe(0);
      }
    } finally {
      await end();
    }
  });
});

test('a server in memory keeps what it has when its processes are replaced, and nothing after its end', async () => {
  const { path, remove } = await workplace();
  const temporary = join(path, 'temporary');
  try {
    await writeFixture(path, 3);
    await mkdir(temporary);
    const args = ['--data', ':memory:', '--import', 'fixture.ndjson', '--workers', '2'];
    const served = await serve(path, args, RUN, { TMPDIR: temporary });
    const connection = new Connection(served.url);
    expect((await connection.ask('POST', '/api/v1/transactiontags', { body: TAG('Kept') })).status).toBe(201);
    connection.close();
    for (const pid of processesOf(served)) process.kill(pid, 'SIGKILL');
    const after = async () =>
      (await new Connection(served.url).read('/api/v1/transactiontags').catch(() => undefined))?.body;
    await expect.poll(after).toContain('"Kept"');
    expect(await served.stop()).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
  } finally {
    await remove();
  }
});
