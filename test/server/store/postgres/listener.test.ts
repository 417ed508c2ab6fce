import { expect, it } from 'vitest';
import { readAddress } from '../../../../src/postgres/address.ts';
import { loadDriver } from '../../../../src/postgres/driver.ts';
import { NoticeListener } from '../../../../src/server/store/postgres/listener.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('others are told once more of what is committed while they are told, however much that is', async () => {
  const ends: (() => void)[] = [];
  let [told, heard] = [0, 0];
  /** A connection whose statements end when the test says so. */
  class Client {
    on() {}
    async connect() {}
    async query(text: string) {
      if (text !== 'NOTIFY practice') return;
      told++;
      await new Promise<void>((resolve) => ends.push(resolve));
    }
  }
  const driver = Object.assign(Object.create(await loadDriver()), { Client });
  const listener = new NoticeListener(driver, readAddress('postgres://127.0.0.1/practice'), 'practice', () => heard++);
  await expect.poll(() => listener.isListening).toBe(true);
  // What was committed before it listened may not have been reported.
  expect(heard).toBe(1);
  for (let commits = 0; commits < 3; commits++) listener.tell();
  expect(told).toBe(1);
  ends.shift()?.();
  await settled();
  expect(told).toBe(2);
  const stopped = listener.stop();
  ends.shift()?.();
  await stopped;
  expect(told).toBe(2);
});
