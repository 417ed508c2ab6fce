import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isRunning } from '../../support/processes.ts';
import { molarIn } from '../inprocess.ts';
import { molar, PATIENT, RUN, serve, workplace, writeFixture } from '../molar.ts';
import { Connection, onSqlite, onStores, openConnections, processesOf, TAG, together } from './together.ts';

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
  test('ends with the process that was started, and by no other signal; the next one has its port and data', async () => {
    const { served, path, data, end } = await together(await newPlace());
    try {
      const { port } = new URL(served.url);
      // What cannot start says why as one process does: before it begins, and when its processes have begun.
      for (const args of [
        ['--data', 'other', '--port', port],
        ['--database', 'postgres://nobody@127.0.0.1:1/none', '--files', 'f', '--port', '0'],
      ]) {
        const line = ['serve', ...args, '--log-level', 'silent'];
        const alone = await molarIn(path, line);
        const both = await molar(path, [...line, '--workers', '2']);
        expect(both).toEqual(alone);
        expect(both.code).not.toBe(0);
      }
      const processes = processesOf(served);
      expect(processes).toHaveLength(2);
      await served.stop('SIGKILL');
      await expect.poll(() => processes.filter(isRunning)).toEqual([]);
      const next = await serve(path, [...data, '--workers', '2', '--port', port]);
      try {
        for (const pid of processesOf(next))
          for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.kill(pid, signal);
        for (const connection of await openConnections(next.url)) {
          expect((await connection.read('/api/v1/patients')).status).toBe(200);
          connection.close();
        }
        // As a terminal does at Ctrl-C.
        for (const pid of processesOf(next)) process.kill(pid, 'SIGINT');
        expect(await next.stop('SIGINT')).toBe(0);
      } finally {
        await next.stop('SIGKILL');
      }
    } finally {
      await end();
    }
  });
});

test('a server in memory goes on when its processes are killed, with what it has, and nothing is left after its end', async () => {
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
    for (const pid of processesOf(served)) process.kill(pid, 'SIGSTOP');
    const waiting = Array.from({ length: 20 }, () => new Connection(served.url).read('/healthz'));
    // So long that they have been given away: the process that accepts them works on.
    await sleep(300);
    for (const pid of processesOf(served)) process.kill(pid, 'SIGKILL');
    // Connections that were given and not taken are closed, too.
    const ends = await Promise.all(waiting.map((each) => each.then(({ status }) => status).catch(() => 0)));
    expect(ends.filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
    const after = async () =>
      (await new Connection(served.url).read('/api/v1/transactiontags').catch(() => undefined))?.body;
    await expect.poll(after).toContain('"Kept"');
    expect(await served.stop()).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
  } finally {
    await remove();
  }
});
