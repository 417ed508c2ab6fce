import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { DEFAULT_BUDGETS } from '../../../src/server/budgets/limits.ts';
import type { RunningServer } from '../../../src/server/serve.ts';
import { type SuperviseOptions, supervise } from '../../../src/server/workers/supervisor.ts';
import { Process } from './process.ts';

/** Why a process cannot start, by its number from 0. */
const failing = new Map<number, string>();

/** A process that says that it was started, or why not, and ends when it is to, unless it hears nothing. */
class Worker extends Process {
  isDeaf = false;

  override send(message: { readonly ask?: number; readonly what?: string }): void {
    super.send(message);
    const reason = failing.get(started.indexOf(this));
    const answer = { answer: message.ask, ...(reason !== undefined && { error: { name: 'Error', message: reason } }) };
    if (message.what === 'start') setImmediate(() => this.emit('message', answer));
    if (message.what === 'end' && !this.isDeaf) setImmediate(() => this.kill());
  }
}

const started: Worker[] = [];
let server: RunningServer | undefined;

afterEach(async () => {
  vi.useRealTimers();
  await server?.close();
  server = undefined;
  started.length = 0;
  failing.clear();
});

async function start(more: object = {}): Promise<RunningServer> {
  const options = {
    workers: 2,
    port: 0,
    data: 'none',
    behindProxy: false,
    budgets: { ...DEFAULT_BUDGETS, connections: 2 },
    log: { note: () => undefined },
    settings: () => ({}),
    fork: () => {
      started.push(new Worker());
      return started.at(-1) as unknown as ChildProcess;
    },
    ...more,
  };
  server = await supervise(options as unknown as SuperviseOptions);
  return server;
}

async function open(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => socket.destroy());
  socket.resume();
  await once(socket, 'connect');
  return socket;
}

it('keeps connections that wait for a process within the budget, and gives them to the first that is ready', async () => {
  const { url } = await start();
  const [one, other] = [await open(url), await open(url)];
  const third = await open(url);
  await expect.poll(() => third.closed).toBe(true);
  started[1]?.emit('message', { what: 'ready' });
  await expect.poll(() => started[1]?.sent.filter(({ what }) => what === 'connection').length).toBe(2);
  expect([one.closed, other.closed]).toEqual([false, false]);
  one.destroy();
  other.destroy();
});

it('gives connections that have waited once, and holds them no longer to the time that they may wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { url } = await start();
  const waiting = [await open(url), await open(url)];
  const third = await open(url);
  await expect.poll(() => third.closed).toBe(true);
  started[1]?.emit('message', { what: 'ready' });
  started[0]?.emit('message', { what: 'ready' });
  vi.advanceTimersByTime(10_000);
  const given = () => started.map(({ sent }) => sent.filter(({ what }) => what === 'connection').length);
  expect(given()).toEqual([0, 2]);
  // They count as before: another one is given with the word that there is no room for it.
  const fourth = await open(url);
  await expect.poll(() => given()).toEqual([1, 2]);
  expect(started[0]?.sent.at(-1)).toMatchObject({ what: 'connection', value: { admitted: false } });
  expect(waiting.map(({ closed }) => closed)).toEqual([false, false]);
  for (const socket of [...waiting, fourth]) socket.destroy();
});

it('closes connections that have waited too long for a process, and has room for others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { url } = await start();
  const waiting = [await open(url), await open(url)];
  const third = await open(url);
  await expect.poll(() => third.closed).toBe(true);
  vi.advanceTimersByTime(10_000);
  await expect.poll(() => waiting.every(({ closed }) => closed)).toBe(true);
  const later = await open(url);
  started[1]?.emit('message', { what: 'ready' });
  await expect.poll(() => started[1]?.was('connection')).toBe(true);
  later.destroy();
});

it('lets a process take leave of its callers that replaces another while the server does', async () => {
  const { drain } = await start();
  started[0]?.emit('message', { what: 'ready' });
  drain();
  expect(started[0]?.was('drain')).toBe(true);
  started[0]?.kill();
  await expect.poll(() => started.length).toBe(3);
  started[2]?.emit('message', { what: 'ready' });
  await expect.poll(() => started[2]?.was('drain')).toBe(true);
});

it('leaves nothing behind when it ends: no connection that waits, no folder of sockets', async () => {
  const { url, close } = await start();
  const waiting = [await open(url), await open(url)];
  const third = await open(url);
  await expect.poll(() => third.closed).toBe(true);
  const begun = started[0]?.sent.find(({ what }) => what === 'start')?.value as { seat: { writerPath: string } };
  const folder = dirname(begun.seat.writerPath);
  expect(existsSync(folder)).toBe(true);
  await close();
  await expect.poll(() => waiting.every(({ closed }) => closed)).toBe(true);
  expect(existsSync(folder)).toBe(false);
});

it('has each process read its certificate again at SIGHUP, and leaves the signal to others after its end', async () => {
  const others = process.listeners('SIGHUP');
  const { url, close } = await start({ tls: { cert: 'none', key: 'none' } });
  expect(url).toMatch(/^https:/);
  const kills = started.map((worker) => vi.spyOn(worker, 'kill').mockImplementation(() => undefined));
  process.emit('SIGHUP');
  expect(kills.map(({ mock }) => mock.calls)).toEqual([[['SIGHUP']], [['SIGHUP']]]);
  for (const kill of kills) kill.mockRestore();
  await close();
  expect(process.listeners('SIGHUP')).toEqual(others);
});

it('kills what has not ended after 22 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { close } = await start();
  server = undefined;
  const deaf = started[1] as Worker;
  deaf.isDeaf = true;
  const kills = vi.spyOn(deaf, 'kill');
  const closed = close();
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  while (!deaf.was('end')) await turn();
  vi.advanceTimersByTime(21_999);
  await turn();
  expect(kills).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  await closed;
  expect(kills).toHaveBeenCalledWith('SIGKILL');
});

it('ends those that have started where another cannot start', async () => {
  failing.set(1, 'no room');
  await expect(start()).rejects.toThrow('no room');
  expect(started.map((worker) => worker.was('end'))).toEqual([true, true]);
});

it('tells a process what the others count, and after its end what it has told itself', async () => {
  await start();
  const [one, other] = started as [Worker, Worker];
  const told = (count: number) => ({ requests: [{ labels: 'x', buckets: [], count, seconds: 0 }], others: [] });
  /** What an asking process is answered, whose own metrics are these. */
  const beside = async (asking: Worker, ask: number, own: object) => {
    asking.emit('message', { ask, what: 'metrics', value: own });
    await expect.poll(() => asking.hasAnswer(ask)).toBe(true);
    const { value } = asking.sent.find(({ answer }) => answer === ask) as { value: ReturnType<typeof told>[] };
    return value.map(({ requests }) => requests[0]?.count);
  };
  const asked = beside(one, 1, told(3));
  await expect.poll(() => other.was('metrics')).toBe(true);
  other.emit('message', { answer: other.sent.find(({ what }) => what === 'metrics')?.ask, value: told(5) });
  expect(await asked).toEqual([5]);
  one.kill();
  await expect.poll(() => started.length).toBe(3);
  const later = beside(other, 1, told(6));
  const next = started[2] as Worker;
  await expect.poll(() => next.was('metrics')).toBe(true);
  next.emit('message', { answer: next.sent.find(({ what }) => what === 'metrics')?.ask, value: told(1) });
  expect(await later).toEqual([1, 3]);
});
