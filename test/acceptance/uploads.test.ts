import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FaultPlan } from '../support/faults/faultplan.ts';
import { type FaultProxy, openFaultProxy } from '../support/faults/faultproxy.ts';
import { seeded } from '../support/faults/seeded.ts';
import { memoryTold, tellingMemory } from './memory.ts';
import {
  connection,
  type Ended,
  exit,
  ORGANIZATION,
  PATIENT,
  type Served,
  serve,
  start,
  TOKEN,
  text,
  workplace,
  writeFixture,
} from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;
let proxies: Record<'keys' | 'no keys', FaultProxy>;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 40);
  served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson', '--rate-limit', '0']);
  proxies = {
    keys: await openFaultProxy(served.url),
    'no keys': await openFaultProxy(served.url, { withoutKeys: true }),
  };
});

afterAll(async () => {
  for (const proxy of Object.values(proxies)) await proxy.close();
  await served.stop();
  await place.remove();
});

/** Names of a patient's documents, asked past every proxy. */
async function stored(patient: number): Promise<string[]> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
  const url = `${served.url}/api/v1/documents?pageSize=500&filter=ownerPatient.id==${patient}`;
  const { data } = (await (await fetch(url, { headers })).json()) as { data: { name: string }[] };
  return data.map(({ name }) => name).sort();
}

/** Writes so many small files and a manifest that gives them to one patient. */
async function manifest(name: string, count: number, patient: number): Promise<string[]> {
  const files = Array.from({ length: count }, (_, at) => `${name}-${String(at).padStart(2, '0')}.pdf`);
  for (const file of files) await writeFile(join(place.path, file), `%PDF-1.7\n${file}\n`);
  const rows = files.map((file) => `${file},${patient}\n`);
  await writeFile(join(place.path, `${name}.csv`), `file,patient\n${rows.join('')}`);
  return files;
}

const line = (name: string) => ['documents', 'upload', '--manifest', `${name}.csv`, '--results', `${name}-results.csv`];

async function ended(child: ReturnType<typeof start>): Promise<Ended> {
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  return { code, stdout, stderr };
}

describe.each(['keys', 'no keys'] as const)('kill -9, by a server with %s', (mode) => {
  test('at any request: the same line goes on until each file is stored once', async () => {
    const seed = mode === 'keys' ? 1 : 2;
    const random = seeded(seed);
    const patient = PATIENT + seed;
    const name = `kill-${seed}`;
    const files = await manifest(name, 50, patient);
    const proxy = proxies[mode];
    for (let kills = 0; kills < 2; kills++) {
      const at = 1 + Math.floor(random() * 25);
      const onRequest = (number: number) => {
        if (number === at) child.kill('SIGKILL');
      };
      await proxy.follow(new FaultPlan({ seed, share: 0, onRequest }));
      const child = start(place.path, line(name), connection(proxy.url));
      child.stdin?.end();
      const { code, stderr } = await ended(child);
      expect([code, stderr]).toEqual([null, expect.any(String)]);
      await proxy.idle();
      // The results are whole at any moment, and every one of their rows is there.
      const results = await readFile(join(place.path, `${name}-results.csv`), 'utf8').catch(() => undefined);
      if (results !== undefined) expect(results.split('\n')).toHaveLength(files.length + 2);
    }
    await proxy.follow(new FaultPlan({ seed, share: 0 }));
    const last = start(place.path, line(name), connection(proxy.url));
    last.stdin?.end();
    expect(await ended(last)).toMatchObject({ code: 0 });
    expect(await stored(patient)).toEqual(files);
    expect((await readFile(join(place.path, `${name}-results.csv`), 'utf8')).match(/,done,/g)).toHaveLength(50);
    expect((await readdir(place.path)).filter((file) => file.startsWith(`${name}-results`)).sort()).toEqual([
      `${name}-results.csv`,
      `${name}-results.csv.journal`,
    ]);
  });
});

test('of two runs of a line at once one is told that the other goes on', async () => {
  const patient = PATIENT + 20;
  const files = await manifest('twice', 20, patient);
  // None gets an answer before the two others have ended.
  const gate = createServer();
  await once(gate.listen(0, '127.0.0.1'), 'listening');
  const waiting: Socket[] = [];
  gate.on('connection', (socket) => void waiting.push(socket.on('error', () => undefined)));
  const letThrough = (socket: Socket) =>
    pipeline(socket, connect(Number(new URL(served.url).port), '127.0.0.1'), socket).catch(() => undefined);
  const env = connection(`http://127.0.0.1:${(gate.address() as AddressInfo).port}`);
  const children = [1, 2, 3].map(() => start(place.path, line('twice'), env));
  for (const child of children) child.stdin?.end();
  let left = children.length;
  const ends = await Promise.all(
    children.map(async (child) => {
      const end = await ended(child);
      if (--left === 1) {
        gate.removeAllListeners('connection').on('connection', letThrough);
        for (const socket of waiting) void letThrough(socket);
      }
      return end;
    }),
  );
  gate.close();
  expect(ends.map(({ code }) => code).sort()).toEqual([0, 9, 9]);
  for (const { code, stderr } of ends)
    if (code === 9) expect(stderr).toMatch(/^Error: twice-results\.csv is in use by process \d+ since 2/);
  expect(await stored(patient)).toEqual(files);
});

test('a server that is killed and started again in the middle has each file once', async () => {
  const patient = PATIENT + 22;
  const files = await manifest('restart', 30, patient);
  let restarts = Promise.resolve();
  const onRequest = (number: number) => {
    if (number === 20) restarts = restarts.then(restart);
  };
  await proxies['no keys'].follow(new FaultPlan({ seed: 1, share: 0, onRequest }));
  const args = [...line('restart'), '--max-retries', '20'];
  const child = start(place.path, args, connection(proxies['no keys'].url));
  child.stdin?.end();
  const { code, stderr } = await ended(child);
  await restarts;
  expect([code, stderr]).toEqual([0, '']);
  expect(await stored(patient)).toEqual(files);
});

/** Kills the server with -9 and starts it anew on the same port and data. */
async function restart(): Promise<void> {
  const { port } = new URL(served.url);
  await served.stop('SIGKILL');
  const child = start(place.path, ['serve', '--port', port, '--json', '--data', './d', '--rate-limit', '0']);
  child.stderr?.resume();
  const ready = once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  expect(await Promise.race([ready, exit(child)])).toEqual([expect.stringContaining('listening')]);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exit(child);
  };
  served = { ...served, child, stop };
}

describe('50 MB', () => {
  const LIMIT_KB = 150_000;

  beforeAll(async () => {
    const file = await open(join(place.path, 'large.pdf'), 'w');
    await file.write('%PDF-1.7\n');
    for (let part = 0; part < 50; part++) await file.write(randomBytes(1_000_000));
    await file.close();
  });

  // The last run meets the code that V8 made in the one before it.
  test('stay under 150 MB in the client, arrive whole, and leave the code of an earlier run as it was', async () => {
    const cache = join(place.path, 'cache');
    const env = { ...connection(served.url), ...(await tellingMemory(place.path)), XDG_CACHE_HOME: cache };
    await writeFile(join(place.path, 'small.pdf'), '%PDF-1.7\n');
    const large = await readFile(join(place.path, 'large.pdf'));
    const kept: (Buffer | undefined)[] = [];
    for (const [name, source] of Object.entries({ typed: '-', first: 'small.pdf', second: 'large.pdf' })) {
      const args = ['documents', 'upload', source, '--name', name, '--patient', String(PATIENT + 30), '--json'];
      const child = start(place.path, args, env);
      child.stdin?.end(source === '-' ? large : undefined);
      const { code, stdout, stderr } = await ended(child);
      expect(code, stderr).toBe(0);
      expect(memoryTold(stderr)).toBeLessThan(LIMIT_KB);
      const { storage } = JSON.parse(stdout) as { storage: { original: string } };
      const arrived = Buffer.from(await (await fetch(storage.original)).arrayBuffer());
      const content = source === '-' ? large : await readFile(join(place.path, source));
      expect(arrived.equals(content), name).toBe(true);
      const files = await readdir(cache, { recursive: true });
      // Later versions of Node keep code themselves, in files of other names.
      const file = files.find((path) => path.endsWith('/upload'));
      kept.push(file === undefined ? undefined : await readFile(join(cache, file)));
    }
    const [, first, second] = kept;
    expect(second === first || second?.equals(first as Buffer)).toBe(true);
  });
});
