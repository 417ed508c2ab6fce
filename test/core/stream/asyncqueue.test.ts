import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { AsyncQueue } from '../../../src/core/stream/amqpsource.ts';

const never = new AbortController().signal;

it('gives in order what is put in, before and while it is waited for', async () => {
  const inbox = new AsyncQueue<number>();
  inbox.put(1);
  inbox.put(2);
  expect([await inbox.take(never), await inbox.take(never)]).toEqual([1, 2]);
  const waiting = inbox.take(never);
  inbox.put(3);
  expect(await waiting).toBe(3);
  // Nothing of a wait is left.
  expect(getEventListeners(never, 'abort')).toEqual([]);
});

it('fails with the first end, also while it is waited for', async () => {
  const inbox = new AsyncQueue<number>();
  const waiting = inbox.take(never);
  inbox.end(new Error('first'));
  inbox.end(new Error('second'));
  inbox.put(1);
  await expect(waiting).rejects.toThrow('first');
  await expect(inbox.take(never)).rejects.toThrow('first');
});

it('fails with the reason of the signal', async () => {
  const stop = new AbortController();
  const waiting = new AsyncQueue<number>().take(stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
});
