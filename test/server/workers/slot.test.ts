import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ImageTurns } from '../../../src/server/budgets/imageturns.ts';
import type { Role } from '../../../src/server/workers/member.ts';
import { Slot } from '../../../src/server/workers/slot.ts';
import { Process } from './process.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A slot, the processes that it starts, the addresses of connections that are counted back, and what it notes. */
function newSlot(images = new ImageTurns(1), role: Role = 'peer') {
  const started: Process[] = [];
  const left: string[] = [];
  const noted: string[] = [];
  const fork = () => {
    started.push(new Process());
    return started.at(-1) as unknown as ChildProcess;
  };
  const slot = new Slot(
    { number: 1, count: 2, role, writerPath: '' },
    {
      fork,
      settings: {},
      note: (_level, text) => noted.push(text),
      images,
      ready: () => undefined,
      left: (address) => left.push(address),
      handlers: {},
    },
  );
  /** Starts the first process, whose end is noticed from now on. */
  const begin = () => {
    slot.start(false).catch(() => undefined);
    slot.keepRunning();
    return started[0] as Process;
  };
  return { slot, started, left, noted, begin };
}

describe('connections', () => {
  it('are counted back once each: when they are closed, or with the process that had them', () => {
    const { slot, left, begin } = newSlot();
    const process = begin();
    slot.give(new Socket(), 'a', true);
    slot.give(new Socket(), 'b', true);
    slot.give(new Socket(), 'refused', false);
    slot.give(new Socket(), 'a', true);
    expect(slot.load).toBe(5);
    process.emit('message', { what: 'closed', value: 1 });
    process.emit('message', { what: 'closed', value: 1 });
    expect([left, slot.load]).toEqual([['a'], 4]);
    process.kill();
    expect([left, slot.load]).toEqual([['a', 'b', 'a'], 1]);
  });

  it('end here when a process has taken them, and those that it has not taken end with it', () => {
    const { slot, begin } = newSlot();
    const process = begin();
    const [taken, untaken] = [new Socket(), new Socket()];
    const ended = [taken, untaken].map((socket) => vi.spyOn(socket, 'destroy'));
    slot.give(taken, 'a', true);
    slot.give(untaken, 'b', true);
    const times = () => ended.map(({ mock }) => mock.calls.length);
    expect(times()).toEqual([0, 0]);
    process.emit('message', { what: 'taken', value: 1 });
    expect(times()).toEqual([1, 0]);
    process.kill();
    expect(times()).toEqual([1, 1]);
  });

  it('are given to a process only while it takes them', () => {
    const { slot, begin } = newSlot();
    const process = begin();
    expect(slot.isReady).toBe(false);
    process.emit('message', { what: 'ready' });
    expect(slot.isReady).toBe(true);
    process.kill();
    expect(slot.isReady).toBe(false);
  });

  it.each([
    ['peer', [1, 2, 3]],
    ['writer', [1, 2, 3]],
    // The writer works for the readers, too.
    ['reader', [0.5, 1, 1.5]],
  ] as const)('weigh of a %s so much', (role, loads) => {
    const { slot, begin } = newSlot(undefined, role);
    begin();
    const seen = [slot.load];
    for (const address of ['a', 'b']) {
      slot.give(new Socket(), address, true);
      seen.push(slot.load);
    }
    expect(seen).toEqual(loads);
  });
});

it('gives the turn of an image for which a process waited when it died to the next, not to whoever replaces it', async () => {
  const images = new ImageTurns(1);
  const [one, other] = [newSlot(images), newSlot(images)];
  const [holder, waiter] = [one.begin(), other.begin()];
  holder.emit('message', { ask: 1, what: 'beginImage', value: 7 });
  await expect.poll(() => holder.hasAnswer(1)).toBe(true);
  waiter.emit('message', { ask: 1, what: 'beginImage', value: 7 });
  await turn();
  expect(waiter.hasAnswer(1)).toBe(false);
  waiter.kill();
  await expect.poll(() => other.started.length).toBe(2);
  holder.emit('message', { what: 'endImage', value: 1 });
  const next = other.started[1] as Process;
  next.emit('message', { ask: 1, what: 'beginImage', value: 7 });
  await expect.poll(() => next.hasAnswer(1)).toBe(true);
});

it('starts a process again that the system could not start', async () => {
  const { slot, started } = newSlot(new ImageTurns(1));
  const starting = slot.start(false);
  slot.keepRunning();
  (started[0] as Process).pid = undefined;
  started[0]?.emit('error', new Error('spawn EAGAIN'));
  await expect(starting).rejects.toThrow('EAGAIN');
  await expect.poll(() => started.length).toBe(2);
  const ended = slot.end();
  started[1]?.kill();
  await ended;
});

it('gives the turns of a process that dies to those who wait', async () => {
  const images = new ImageTurns(1);
  const [holder, waiter] = [newSlot(images).begin(), newSlot(images).begin()];
  holder.emit('message', { ask: 1, what: 'beginImage', value: 7 });
  await expect.poll(() => holder.hasAnswer(1)).toBe(true);
  waiter.emit('message', { ask: 1, what: 'beginImage', value: 7 });
  await turn();
  expect(waiter.hasAnswer(1)).toBe(false);
  holder.kill();
  await expect.poll(() => waiter.hasAnswer(1)).toBe(true);
});

it('answers a process whose image would be one too many to wait', async () => {
  const process = newSlot().begin();
  const last = 34;
  for (let ask = 1; ask <= last; ask++) process.emit('message', { ask, what: 'beginImage', value: 7 });
  await expect.poll(() => process.hasAnswer(last)).toBe(true);
  const answers = process.sent.filter(({ answer }) => answer !== undefined);
  expect(answers).toEqual(
    expect.arrayContaining([
      { answer: 1, value: 1 },
      { answer: last, value: undefined },
    ]),
  );
  expect(answers).toHaveLength(2);
});

describe('a process that ends', () => {
  /** Milliseconds after which the next process is started. */
  async function pauseBeforeNext({ started }: ReturnType<typeof newSlot>): Promise<number> {
    const before = started.length;
    await turn();
    for (let passed = 0; passed <= 10_000; passed += 50) {
      vi.advanceTimersByTime(passed === 0 ? 0 : 50);
      if (started.length > before) return passed;
    }
    return Number.POSITIVE_INFINITY;
  }

  it('at its start is replaced after longer and longer, and at once when it has worked for a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const slot = newSlot();
    slot.begin();
    const pauses: number[] = [];
    for (let failure = 1; failure <= 8; failure++) {
      slot.started.at(-1)?.kill();
      pauses.push(await pauseBeforeNext(slot));
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    slot.started.at(-1)?.emit('message', { what: 'ready' });
    vi.advanceTimersByTime(1001);
    slot.started.at(-1)?.kill();
    expect(await pauseBeforeNext(slot)).toBe(0);
    slot.started.at(-1)?.kill();
    expect(await pauseBeforeNext(slot)).toBe(100);
  });

  it('when it is to is not replaced, nor noted as an error, also in the pause before another', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const slot = newSlot();
    const process = slot.begin();
    const ended = slot.slot.end();
    expect(process.was('end')).toBe(true);
    process.kill();
    await ended;
    expect(await pauseBeforeNext(slot)).toBe(Number.POSITIVE_INFINITY);
    expect(slot.noted).toEqual([]);
    const failing = newSlot();
    failing.begin().kill();
    await turn();
    await failing.slot.end();
    expect(await pauseBeforeNext(failing)).toBe(Number.POSITIVE_INFINITY);
    expect(failing.noted).toEqual(['a worker ended']);
  });

  it('leaves what it has counted to its slot', async () => {
    const { slot, begin } = newSlot();
    const process = begin();
    const series = { labels: 'route="/"', buckets: [2], count: 2, seconds: 1 };
    slot.metrics.keep({ requests: [series], others: [] });
    process.kill();
    await turn();
    expect((await slot.metrics.ended()).flatMap(({ requests }) => requests)).toMatchObject([{ count: 2, seconds: 1 }]);
  });

  it('is killed and replaced when the one in its place cannot start', async () => {
    const { started, noted, begin } = newSlot();
    begin().kill();
    await expect.poll(() => started.length).toBe(2);
    started[1]?.emit('message', { answer: 1, error: { name: 'Error', message: 'no room' } });
    await expect.poll(() => started.length).toBe(3);
    expect(noted).toEqual(['a worker ended', 'a worker cannot start', 'a worker ended']);
  });
});
