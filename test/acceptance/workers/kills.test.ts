import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isRunning } from '../../support/processes.ts';
import { expectRecords, write } from '../cluster/writers.ts';
import { molarIn } from '../inprocess.ts';
import { PATIENT } from '../molar.ts';
import { Connection, onStores, processesOf, together } from './together.ts';

const WRITERS = 4;
/** What writers do at least; they go on until so many processes were killed. */
const ROUNDS = 5;
const KILLS = 3;
const READERS = 3;

/** How a read was answered that was sent again and again while processes were killed. */
interface Read {
  readonly requestId: string;
  /** 0 where no whole answer came. */
  readonly status: number;
}

/** One client that reads a patient again and again, on connections that it opens anew when they break. */
async function read(url: string, reader: number, reads: Read[], signal: AbortSignal): Promise<void> {
  let connection = new Connection(url);
  for (let round = 0; !signal.aborted; round++) {
    const requestId = `reader-${reader}-${round}`;
    const headers = { 'x-request-id': requestId };
    const answer = await connection.read(`/api/v1/patients/${PATIENT + (round % 40)}`, headers).catch(() => undefined);
    reads.push({ requestId, status: answer?.status ?? 0 });
    if (answer?.status === 503) {
      expect(answer.headers['retry-after']).toBe('1');
      expect(JSON.parse(answer.body)).toMatchObject({
        statusCode: 503,
        data: null,
        errors: [{ description: expect.stringMatching(/./) }],
      });
    }
    // Readers are there all the time that the kills take; they need not ask as fast as they can.
    await sleep(20);
    if (answer !== undefined) continue;
    connection.close();
    connection = new Connection(url);
  }
  connection.close();
}

await onStores('processes of a server that are killed', (newPlace) => {
  test('are replaced; nothing that was answered is lost, and each read that was answered is recorded', async () => {
    const { served, path, data, connections, end } = await together(await newPlace(), ['--rate-limit', '0']);
    try {
      const reading = new AbortController();
      const reads: Read[] = [];
      const readers = Array.from({ length: READERS }, (_, reader) => read(served.url, reader, reads, reading.signal));
      const killed = new Set<number>();
      const killing = (async () => {
        for (let at = 0; killed.size < KILLS; at++) {
          await sleep(200);
          const running = processesOf(served).filter((pid) => !killed.has(pid));
          const next = running[at % running.length];
          // Not before those that were killed are replaced: something is to be written, too.
          if (next === undefined || running.length < 2 || !(await isReady(served.url))) continue;
          process.kill(next, 'SIGKILL');
          killed.add(next);
        }
      })();
      const place = { url: async () => served.url };
      const isEnough = (rounds: number) => rounds >= ROUNDS && killed.size >= KILLS;
      const acknowledged = await Promise.all(
        Array.from({ length: WRITERS }, (_, writer) => write(place, { writer, patient: PATIENT + writer, isEnough })),
      );
      await killing;
      // Both serve again, and whoever asks now is answered.
      await expect.poll(() => processesOf(served).filter((pid) => !killed.has(pid))).toHaveLength(2);
      await expect.poll(() => isReady(served.url)).toBe(true);
      // On a busy machine each of those that were killed may have been starting.
      await expect.poll(served.log).toContain('a worker was replaced');
      reading.abort();
      await Promise.all(readers);
      for (const connection of connections) connection.close();
      await expectRecords(served.url, path, acknowledged);
      expect(killed.size).toBe(KILLS);
      expect(reads.filter(({ status }) => ![200, 503, 0].includes(status))).toEqual([]);
      expect(await served.stop()).toBe(0);
      expect([...killed].filter(isRunning)).toEqual([]);
      const verified = await molarIn(path, ['server', 'audit', 'verify', '--json', ...data]);
      expect(verified, verified.stderr).toMatchObject({ code: 0 });
      const recorded = await recordedRequests(path, data);
      const answered = reads.filter(({ status }) => status === 200).map(({ requestId }) => requestId);
      expect(answered.length).toBeGreaterThan(READERS);
      expect(answered.filter((requestId) => !recorded.has(requestId))).toEqual([]);
    } finally {
      await end();
    }
  });
});

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined);
  return answer?.status === 200;
}

/** The request ids of all entries of the audit log. */
async function recordedRequests(path: string, data: readonly string[]): Promise<ReadonlySet<string>> {
  const { stdout } = await molarIn(path, ['server', 'audit', 'export', ...data]);
  return new Set(
    stdout
      .trim()
      .split('\n')
      .map((line) => String((JSON.parse(line) as { requestId: string | null }).requestId)),
  );
}
