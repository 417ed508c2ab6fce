import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sharedSync } from '../../../src/server/files/staging.ts';

it('who calls during a sync waits for the next one, which those share that call meanwhile', async () => {
  const ends: { resolve: () => void; reject: (cause: Error) => void }[] = [];
  const persist = sharedSync(() => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })));
  const done: string[] = [];
  const call = (name: string) => persist().then(() => done.push(name));
  const calls = [call('first'), call('with it')];
  await turn();
  expect(ends).toHaveLength(1);
  calls.push(call('during'), call('during, too'));
  ends[0]?.resolve();
  await turn();
  expect([done, ends.length]).toEqual([['first', 'with it'], 2]);
  // One that fails is told to those who share it, and the next is made all the same.
  const failing = calls.splice(2).map((each) => expect(each).rejects.toThrow('disk'));
  calls.push(call('last'));
  ends[1]?.reject(new Error('disk'));
  await Promise.all(failing);
  await turn();
  ends[2]?.resolve();
  await Promise.all(calls);
  expect([done, ends.length]).toEqual([['first', 'with it', 'last'], 3]);
});
