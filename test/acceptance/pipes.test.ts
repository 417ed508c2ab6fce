import { spawn } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { cleanEnv, connection, exit, molar, RUN, start, text } from './molar.ts';
import { practiceHere } from './servedpractice.ts';

const practice = practiceHere(3000);

test.each(['csv', 'json'])('%s through a slow pipe arrives whole', async (format) => {
  const child = start(practice.path, ['patients', 'list', '--format', format], connection(practice.url));
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
  const rows = format === 'json' ? (JSON.parse(output) as unknown[]).length : lines.length - 1;
  expect(rows).toBe(3000);
});

test('a reader that goes away ends the command quietly with 0', async () => {
  const child = start(practice.path, ['patients', 'list', '--csv'], connection(practice.url));
  const errors = text(child.stderr);
  child.stdout?.once('data', () => child.stdout?.destroy());
  expect(await exit(child)).toBe(0);
  expect(await errors).toBe('');
});

test.each([
  ['lastModified>=2026-01-01', '=2026-01-01', '--filter lastModified.gte=2026-01-01.'],
  ['preferredLocation.id->[5,6]', '[5,6]', '--filter preferredLocation.id.in=5,6.'],
])('what the shell cut from %s is told, with what to type', async (filter, made, typed) => {
  const folder = join(practice.path, `cut ${made}`);
  await mkdir(folder);
  const line = `"$NODE" "$RUN" patients list --filter ${filter}`;
  const env = cleanEnv({ ...connection(practice.url), NODE: process.execPath, RUN });
  const child = spawn('/bin/sh', ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stderr, code] = await Promise.all([text(child.stderr), exit(child)]);
  expect([code, await readdir(folder)]).toEqual([2, [made]]);
  expect(stderr).toContain(`made the file "${made}", which is empty and can be deleted. Type ${typed}\n`);
});

test.each([
  ['', Buffer.of()],
  ['with a byte order mark', Buffer.of(0xff, 0xfe)],
])('so is what PowerShell cut, which leaves a file %s and reads the output itself', async (_, bytes) => {
  await writeFile(join(practice.path, '=2026-01-01'), bytes);
  const env = { ...connection(practice.url), MOLAR_SHELL: 'powershell' };
  const { code, stderr } = await molar(practice.path, ['patients', 'list', '--filter', 'lastModified'], env);
  await rm(join(practice.path, '=2026-01-01'));
  expect([code, stderr]).toEqual([2, expect.stringContaining('Type --filter lastModified.gte=2026-01-01.\n')]);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends an export with %i', async (signal, code) => {
  const child = start(practice.path, ['patients', 'list', '--page-size', '1', '--csv'], connection(practice.url));
  child.stdout?.once('data', () => child.kill(signal));
  child.stdout?.resume();
  child.stderr?.resume();
  expect(await exit(child)).toBe(code);
});
