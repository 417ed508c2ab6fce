import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LinkKeys, listKeys, rotateKeys } from '../../../src/server/files/linkkeys.ts';
import { linkHolder, variantUrls } from '../../../src/server/files/signing.ts';
import type { RenderContext } from '../../../src/server/resources/behaviour.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { TestClock } from '../../support/clock.ts';

/** Milliseconds after which a running server signs links with a key that another process has made (contract §8). */
const PROMISED = 5000;

let folder: string;
let store: Store;
const clock = new TestClock();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-linkkeys-'));
  store = await openSqliteStore(folder, { serving: false });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  await rm(folder, { recursive: true });
});

const rotated = () => store.write((tx) => rotateKeys(tx, clock.now(), false));

it('a rotation at once ends every earlier key, also those that another rotation has given some minutes', async () => {
  await LinkKeys.open(store, clock.now);
  await rotated();
  await rotated();
  const id = await store.write((tx) => rotateKeys(tx, clock.now(), true));
  const now = new Date(clock.now()).toISOString();
  const good = (await listKeys(store.read)).filter(({ endsAt }) => endsAt === null || endsAt > now);
  expect(good.map((key) => key.id)).toEqual([id]);
});

it('the key that another process has made signs within 5 seconds, also when the store failed meanwhile', async () => {
  let isFailing = false;
  const get: Store['read']['get'] = (statement) =>
    isFailing ? Promise.reject(new Error('busy')) : store.read.get(statement);
  const read = Object.create(store.read, { get: { value: get } });
  const keys = await LinkKeys.open(Object.create(store, { read: { value: read } }), clock.now);
  keys.follow();
  for (const fails of [false, true]) {
    const id = await rotated();
    expect(keys.current.id).not.toBe(id);
    isFailing = fails;
    // Half of the time passes while the store fails.
    vi.advanceTimersByTime(PROMISED / 2);
    isFailing = false;
    vi.advanceTimersByTime(PROMISED / 2);
    await expect.poll(() => keys.current.id).toBe(id);
  }
  keys.close();
  expect(vi.getTimerCount()).toBe(0);
});

it('whoever is known for longer than a key gets links that open, with the next one, too', async () => {
  const grant = { who: 'certificate 5' };
  const file = { organization: 'org-1', document: 5, variant: 'original' };
  const holders: string[] = [];
  for (let keys = 0; keys < 2; keys++) {
    const service = { linkKeys: await LinkKeys.open(store, clock.now), clock: clock.now };
    const context = { service, organization: { id: 'org-1' }, baseUrl: 'https://api.example.com', grant };
    const { original = '' } = variantUrls(context as unknown as RenderContext, 5, ['original']);
    const query = Object.fromEntries(new URL(original).searchParams);
    holders.push(await linkHolder(context.service as RenderContext['service'], file, query));
    await rotated();
  }
  expect(holders).toEqual([grant.who, grant.who]);
});
