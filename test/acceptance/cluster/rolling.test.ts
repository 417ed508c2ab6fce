import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { readyProxy } from '../../support/readyproxy.ts';
import { freePorts, testPostgres } from '../../support/services.ts';
import { molarIn } from '../inprocess.ts';
import { ORGANIZATION, PATIENT, type Served, serve, TOKEN, workplace, writeFixture } from '../molar.ts';

const CALLERS = 12;

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };

let place: Awaited<ReturnType<typeof workplace>>;
let database: TestDatabase | undefined;
const running = new Map<number, Served>();

beforeEach(async () => {
  place = await workplace();
  await writeFixture(place.path, CALLERS);
});

afterEach(async () => {
  await Promise.all([...running.values()].map((served) => served.stop('SIGKILL')));
  running.clear();
  await database?.drop();
  await place.remove();
});

/** What callers got: how many responses, and those that were not as they should be. */
interface Answers {
  count: number;
  readonly failures: string[];
}

/** Reads and writes through a proxy on one connection, until the signal is aborted. */
async function call(url: string, caller: number, answers: Answers, signal: AbortSignal): Promise<void> {
  const dispatcher = new Agent({ connections: 1 });
  const patient = `${url}/api/v1/patients/${PATIENT + caller}`;
  for (let turn = caller; !signal.aborted; turn++) {
    const write = turn % 4 === 0;
    const body = JSON.stringify({ city: `City ${turn}` });
    const answer = await fetch(write ? patient : `${url}/api/v1/patients`, {
      dispatcher,
      headers: { ...HEADERS, ...(write && { 'content-type': 'application/json' }) },
      ...(write && { method: 'PUT', body }),
    }).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (error: unknown) => ({ status: 0, text: String(error) }),
    );
    answers.count++;
    if (answer.status !== 200) answers.failures.push(`${answer.status} ${answer.text}`);
    // Callers are there all the time that the servers take; they need not ask as fast as they can.
    await sleep(10);
  }
  await dispatcher.close();
}

test('two servers behind a proxy that are restarted one after another drop no request', {
  timeout: 300_000,
}, async (context) => {
  if ((await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
  database = await testDatabase();
  const store = ['--database', `${database.url}&readers=3&writers=2`, '--files', 'files'];
  await molarIn(place.path, ['server', 'import', 'fixture.ndjson', '--allow-credentials', ...store]);
  const ports = await freePorts(2);
  const begin = async (port: number) => {
    const more = ['--port', String(port), '--drain-time', '1', '--rate-limit', '0', '--log-level', 'silent'];
    running.set(port, await serve(place.path, [...store, ...more]));
  };
  await Promise.all(ports.map(begin));
  const targets = ports.map((port) => `http://127.0.0.1:${port}`);
  const proxy = await readyProxy(targets);
  const done = new AbortController();
  try {
    await Promise.all(targets.map((target) => proxy.until(target, 'in')));
    const answers: Answers = { count: 0, failures: [] };
    const calls = Array.from({ length: CALLERS }, (_, caller) => call(proxy.url, caller, answers, done.signal));
    for (const port of ports) {
      const before = answers.count;
      while (answers.count < before + 10 * CALLERS) await sleep(10);
      expect(await running.get(port)?.stop('SIGTERM')).toBe(0);
      await begin(port);
      await proxy.until(`http://127.0.0.1:${port}`, 'in');
    }
    done.abort();
    await Promise.all(calls);
    expect(answers.failures).toEqual([]);
  } finally {
    done.abort();
    await proxy.close();
  }
});
