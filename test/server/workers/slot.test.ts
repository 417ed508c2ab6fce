import type { ChildProcess } from 'node:child_process';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ImageTurns } from '../../../src/server/budgets/imageturns.ts';
import { Slot } from '../../../src/server/workers/slot.ts';
import { Process } from './process.ts';

/** A slot of a peer, and the processes that it starts. */
function newSlot(images: ImageTurns): { readonly slot: Slot; readonly started: Process[] } {
  const started: Process[] = [];
  const fork = () => {
    started.push(new Process());
    return started.at(-1) as unknown as ChildProcess;
  };
  const seat = { number: 1, count: 2, role: 'peer', writerPath: '' } as const;
  const slot = new Slot(seat, {
    fork,
    settings: {},
    note: () => undefined,
    images,
    ready: () => undefined,
    left: () => undefined,
    handlers: {},
  });
  return { slot, started };
}

it('gives the turn of an image for which a process waited when it died to the next, not to whoever replaces it', async () => {
  const images = new ImageTurns(1);
  const [one, other] = [newSlot(images), newSlot(images)];
  for (const { slot } of [one, other]) {
    slot.start(false).catch(() => undefined);
    slot.keepRunning();
  }
  const [holder, waiter] = [one.started[0] as Process, other.started[0] as Process];
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
