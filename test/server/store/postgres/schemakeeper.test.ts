import { afterEach, expect, test, vi } from 'vitest';
import { SchemaKeeper } from '../../../../src/server/store/postgres/schemakeeper.ts';
import { SCHEMA } from '../../../../src/server/store/schema/schema.ts';
import type { Upgrade } from '../../../../src/server/store/schema/upgradework.ts';
import type { Reader, Statement } from '../../../../src/server/store/store.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a server says that it is there, however long rows of older ones take', async () => {
  vi.useFakeTimers();
  let beats = 0;
  const get = async ({ text, values }: Statement) => {
    if (text.includes('INSERT INTO servers')) beats++;
    return { value: values[0] === 'fingerprint' ? SCHEMA.fingerprint : '{"notBefore":0,"indexes":[]}' };
  };
  const read = { get, all: async () => [] } as Reader;
  let end = () => {};
  const transact = () =>
    new Promise<never>((_, reject) => {
      end = () => reject(new Error('The database is gone.'));
    });
  const work: Upgrade = { dialect: 'postgres', schema: SCHEMA, transact };
  const keeper = await SchemaKeeper.start(work, { id: 'one', fingerprint: SCHEMA.fingerprint }, read);
  expect(keeper.isUnfinished).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(beats).toBe(6);
  end();
  await keeper.stop();
});
