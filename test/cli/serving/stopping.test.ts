import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  announceServer,
  askToStop,
  type FoundServer,
  serverOn,
  waitForEnd,
} from '../../../src/cli/serving/stopping.ts';
import type { LockOwner } from '../../../src/core/lockfile.ts';
import { need } from '../../support/capabilities.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-stopping-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

const signal = new AbortController().signal;

/** Lets servers look at what is asked of them. */
async function look(): Promise<void> {
  vi.advanceTimersByTime(1000);
  // What they look at is asked of the system; so is this, later.
  for (let times = 0; times < 20; times++) await readdir(folder);
}

/** A process of a machine, whose clock goes on only while somebody sleeps; `onSleep` is told how often. */
function process(
  pid: number,
  host: string,
  lives: ReadonlySet<number>,
  onSleep = async (_times: number) => {},
): LockOwner {
  let [now, times] = [0, 0];
  const sleep = async (milliseconds: number) => {
    now += milliseconds;
    await onSleep(++times);
  };
  return { pid, host, clock: { now: () => now, sleep }, lifeOf: (other) => ({ alive: lives.has(other) }) };
}

async function running(owner: LockOwner): Promise<{ server: FoundServer; forget: () => Promise<void> }> {
  const forget = await announceServer(folder, owner, true, () => {});
  return { server: (await serverOn(folder, owner)) as FoundServer, forget };
}

it('a server has ended when its process is gone, which is after it has let its folder go', async () => {
  const lives = new Set([7, 8]);
  const { server, forget } = await running(process(7, 'desk', lives));
  const looks: number[] = [];
  const other = process(8, 'desk', lives, async (times) => {
    looks.push(times);
    if (times === 2) await forget();
    if (times === 5) lives.delete(7);
  });
  await waitForEnd(folder, server, other, { timeout: 60_000, signal });
  expect(looks).toEqual([1, 2, 3, 4, 5]);
});

it('of a server on another machine the folder tells all', async () => {
  const { server, forget } = await running(process(7, 'elsewhere', new Set([7])));
  const desk = process(8, 'desk', new Set([7, 8]), async (times) => {
    if (times === 3) await forget();
    expect(times).toBeLessThan(4);
  });
  expect(await serverOn(folder, desk)).toMatchObject({ pid: 7, host: 'elsewhere' });
  await waitForEnd(folder, server, desk, { timeout: 60_000, signal });
});

it('where nobody takes notice in time, the process may be another program, and the request stays', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const lives = new Set([7, 8]);
  const { server, forget } = await running(process(7, 'desk', lives));
  await askToStop(folder, server);
  const waiting = waitForEnd(folder, server, process(8, 'desk', lives), { timeout: 1100, signal });
  await expect(waiting).rejects.toMatchObject({
    exitCode: 7,
    message: 'No server has taken notice within 1.1 s (process 7).',
    hint: expect.stringContaining(`delete ${join(folder, 'server.json')}`),
  });
  expect(await readdir(folder)).toHaveLength(2);
  await forget();
  expect(await readdir(folder)).toEqual([]);
});

it('a server that has taken notice may end later than anybody waits', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const lives = new Set([7, 8]);
  const { server, forget } = await running(process(7, 'desk', lives));
  await askToStop(folder, server);
  await look();
  await expect.poll(() => readdir(folder)).toEqual(['server.json']);
  await expect(waitForEnd(folder, server, process(8, 'desk', lives), { timeout: 1100, signal })).rejects.toMatchObject({
    exitCode: 7,
    message: 'The server has not ended within 1.1 s (process 7).',
  });
  await forget();
});

it('a link in the place of the request is not written through, and two may ask', async (context) => {
  need(context, 'symlinks');
  const { server, forget } = await running(process(7, 'desk', new Set([7])));
  await writeFile(join(folder, 'theirs'), 'kept');
  await symlink(join(folder, 'theirs'), join(folder, `server.stop-${server.id}`));
  await askToStop(folder, server);
  await askToStop(folder, server);
  expect(await readFile(join(folder, 'theirs'), 'utf8')).toBe('kept');
  await forget();
});

it('a server that starts while another is waited for has not died', async () => {
  const ended = await running(process(7, 'desk', new Set([7])));
  await ended.forget();
  const { forget } = await running(process(9, 'desk', new Set([9])));
  let looks = 0;
  // At the first look it was not there yet.
  const lifeOf = (pid: number) => ({ alive: pid === 9 && looks++ > 0 });
  const desk = { ...process(8, 'desk', new Set()), lifeOf };
  await waitForEnd(folder, ended.server, desk, { timeout: 60_000, signal });
  expect(looks).toBe(2);
  await forget();
});

it('only the request that names this start is one', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let asked = 0;
  const owner = process(7, 'desk', new Set([7]));
  const forget = await announceServer(folder, owner, true, () => asked++);
  const server = (await serverOn(folder, owner)) as FoundServer;
  await askToStop(folder, { ...server, id: 'another' });
  await look();
  expect(asked).toBe(0);
  await askToStop(folder, server);
  await look();
  await expect.poll(() => asked).toBeGreaterThan(0);
  await forget();
  expect(await readdir(folder)).toEqual(['server.stop-another']);
});

it('two servers that share a folder do not take it from each other', async () => {
  const lives = new Set([7, 8]);
  const { forget } = await running(process(7, 'desk', lives));
  const second = announceServer(folder, process(8, 'desk', lives), false, () => {});
  await expect(second).rejects.toMatchObject({
    exitCode: 9,
    message: expect.stringContaining('molar serve, process 7'),
  });
  await forget();
});
