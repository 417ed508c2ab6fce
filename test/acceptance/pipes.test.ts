import { spawn } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnv, connection, exit, RUN, type Served, serve, start, text, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 3000);
  served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson', '--rate-limit', '0']);
});

afterAll(async () => {
  await served.stop();
  await place.remove();
});

test.each(['csv', 'json', 'ndjson'])('%s through a slow pipe arrives whole', async (format) => {
  const child = start(place.path, ['patients', 'list', '--format', format], connection(served.url));
  const chunks: Buffer[] = [];
  const ended = exit(child);
  for await (const chunk of child.stdout ?? []) {
    chunks.push(Buffer.from(chunk));
    await sleep(2);
  }
  const output = Buffer.concat(chunks).toString();
  expect(await ended).toBe(0);
  expect(output.length).toBeGreaterThan(500_000);
  const lines = output.trimEnd().split('\n');
  const rows =
    format === 'json' ? (JSON.parse(output) as unknown[]).length : format === 'csv' ? lines.length - 1 : lines.length;
  expect(rows).toBe(3000);
});

test('a reader that goes away ends the command quietly with 0', async () => {
  const child = start(place.path, ['patients', 'list', '--csv'], connection(served.url));
  const errors = text(child.stderr);
  child.stdout?.once('data', () => child.stdout?.destroy());
  expect(await exit(child)).toBe(0);
  expect(await errors).toBe('');
});

test('a > without quotes, which made the shell empty a file, is recognised', async () => {
  await writeFile(join(place.path, '5'), 'precious');
  const output = await open(join(place.path, '5'), 'w');
  const env = cleanEnv(connection(served.url));
  const args = [RUN, 'patients', 'list', '--filter', 'id'];
  const child = spawn(process.execPath, args, { cwd: place.path, env, stdio: ['ignore', output.fd, 'pipe'] });
  const [stderr, code] = await Promise.all([text(child.stderr), exit(child)]);
  await output.close();
  expect([code, stderr]).toEqual([2, expect.stringContaining(`Put the filter into quotes: --filter 'id>5'`)]);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends an export with %i', async (signal, code) => {
  const child = start(place.path, ['patients', 'list', '--page-size', '1', '--csv'], connection(served.url));
  child.stdout?.once('data', () => child.kill(signal));
  child.stdout?.resume();
  child.stderr?.resume();
  expect(await exit(child)).toBe(code);
});
