import { execFileSync } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { molar, ORGANIZATION, serve, workplace } from '../acceptance/molar.ts';
import { FIRST_PATIENT, PATIENT_VALUES, writePractice } from '../acceptance/torture/practice.ts';
import { Random } from '../acceptance/torture/random.ts';
import { Connections } from '../acceptance/torture/request.ts';
import { say, setting } from './figures.ts';
import { Measured, mixedClient } from './mixedclients.ts';
import { VILLAINS } from './villains.ts';

const CLIENTS = 200;
const TOKENS = Array.from({ length: 20 }, (_, at) => `load-token-${at}`);
const VILLAIN_TOKENS = VILLAINS.map((_, at) => `villain-token-${at}`);
const PATIENTS = 10_000;

/** Seconds without and with those who behave badly; of the latter memory is compared. */
const CALM_SECONDS = setting('MOLAR_TORTURE_CALM_SECONDS', 30);
const SECONDS = setting('MOLAR_TORTURE_SECONDS', 120);

/** How much more memory than in the second quarter a server may hold in the last one, in megabytes. */
const GROWTH = 60;

test(`${CLIENTS} mixed clients for ${SECONDS} s, beside slow readers, stalled uploads and giant exports`, async () => {
  const place = await workplace();
  await writePractice(place.path, [...TOKENS, ...VILLAIN_TOKENS]);
  await appendFile(join(place.path, 'practice.ndjson'), [...patientLines()].join(''));
  const args = ['--data', 'd', '--import', 'practice.ndjson', '--log-level', 'silent', '--request-timeout', '30'];
  const served = await serve(place.path, args);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  // What the clients themselves are late by is no delay of the server.
  const own = monitorEventLoopDelay();
  own.enable();
  let measured = new Measured();
  const clients = Array.from({ length: CLIENTS }, (_, at) => {
    const connections = pools[at % TOKENS.length] ?? new Connections(served.url, TOKENS[at % TOKENS.length]);
    pools[at % TOKENS.length] = connections;
    const shared = { measured: () => measured, patients: PATIENTS, stop: stop.signal };
    return mixedClient(`c${at}`, connections, new Random(at + 1), shared);
  });
  await sleep(CALM_SECONDS * 1000);
  const calm = measured;
  say(`${CALM_SECONDS} s calm:\n${calm.text}`);
  measured = new Measured();
  const villains = VILLAINS.map((villain, at) => villain(served.url, VILLAIN_TOKENS[at] ?? '', stop.signal));
  const memory: number[] = [];
  for (let second = 0; second < SECONDS; second++) {
    await sleep(1000);
    memory.push(megabytesOf(served.child.pid ?? 0));
  }
  stop.abort();
  await Promise.all(clients);
  for (const told of await Promise.all(villains)) say(told);
  say(`${SECONDS} s beside them:\n${measured.text}`);
  say(`the clients' own process was late by ${Math.round(own.max / 1e6)} ms at most`);
  say(`megabytes of the server: ${memory.filter((_, second) => second % 10 === 0).join(' ')}`);
  await Promise.all(pools.map((pool) => pool.close()));
  expect([...calm.wrong, ...measured.wrong]).toEqual([]);
  const quarter = (at: number) => median(memory.slice((memory.length * at) / 4, (memory.length * (at + 1)) / 4));
  expect(quarter(3)).toBeLessThan(quarter(1) + GROWTH);
  expect(await served.stop('SIGTERM')).toBe(0);
  const checked = await molar(place.path, ['server', 'check', '--deep', '--data', 'd']);
  expect(checked, checked.stdout + checked.stderr).toMatchObject({ code: 0 });
  await place.remove();
});

const pools: Connections[] = [];

function* patientLines(): Generator<string> {
  for (let at = 4; at < PATIENTS; at++) {
    const names = { id: FIRST_PATIENT + at, firstName: `First${at % 1000}`, lastName: 'Example' };
    yield `${JSON.stringify({ type: 'PatientV1', organizationId: ORGANIZATION, ...names, ...PATIENT_VALUES })}\n`;
  }
}

function megabytesOf(pid: number): number {
  return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
