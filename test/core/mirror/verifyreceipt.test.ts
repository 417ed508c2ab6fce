import { beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { SqlMirror } from '../../../src/core/mirror/sql/sqlmirror.ts';
import { SqliteDatabase } from '../../../src/core/mirror/sqlite/database.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import { receiptOf } from '../../../src/core/mirror/verify/receipt.ts';
import type { VerifiedResource } from '../../../src/core/mirror/verify/verifyrun.ts';
import { mirrorFolder } from './mirroring.ts';

const FACTS = { organization: 'org-1', url: 'https://api.example.com', history: false, columns: {}, timezone: null };
const OPTIONS = {
  zones: { locations: [], zone: 'UTC', isComputers: false },
  instantOf: () => Number.NaN,
  now: () => 0,
};

let file: string;

beforeEach(async () => {
  ({ file } = await mirrorFolder());
});

/** The receipt of what was found of these resources, in an empty mirror. */
async function receipt(
  found: readonly VerifiedResource[],
  sample?: number,
  deidentified?: { key: string; file: string },
  named: readonly string[] = [],
) {
  const facts = { ...FACTS, ...(deidentified && { deidentified }) };
  const store = await SqlMirror.open(await SqliteDatabase.open(file), facts, OPTIONS);
  try {
    const times = { startedAt: '2026-11-22T05:00:00.000Z', endedAt: '2026-11-22T05:00:01.000Z' };
    return JSON.parse(await receiptOf({ store, resources: found, receipt: 'proof.json', ...times, sample, named }));
  } finally {
    await store.close();
  }
}

const of = (name: string, more: Partial<VerifiedResource> = {}): VerifiedResource => ({
  table: findTable(name) as MirrorTable,
  ...{ rows: 5, serverRows: 5, missing: [], extra: [], different: [], differences: 0, repaired: 0 },
  ...{ complete: true, unavailable: null, failure: null },
  ...more,
});
const cutOff = new Failure('The server said: Ann Miller is locked.', { code: 'http.500', exitCode: 8 });
const failed = of('events', { complete: false, failure: cutOff });
const gone = of('documents', { complete: false, unavailable: 'HTTP 404' });

describe('the result in a receipt', () => {
  it.each<[string, readonly VerifiedResource[], Readonly<Record<string, unknown>>]>([
    ['nothing differs', [of('patients'), of('events')], { result: 'equal', complete: true }],
    ['the service does not give a resource', [of('patients'), gone], { result: 'equal', complete: true }],
    ['all were mended', [of('patients', { differences: 3, repaired: 3 })], { result: 'repaired', repaired: 3 }],
    ['some were mended', [of('patients', { differences: 3, repaired: 2 })], { result: 'different', repaired: 2 }],
    ['one was not compared', [of('patients'), failed], { result: 'incomplete', complete: false }],
    [
      'one was not compared, all others mended',
      [of('patients', { differences: 1, repaired: 1 }), failed],
      { result: 'incomplete', complete: false },
    ],
    [
      'one was not compared, and another differs',
      [of('patients', { differences: 1 }), failed],
      { result: 'different', complete: false, differences: 1 },
    ],
    ['nothing was compared', [gone], { result: 'incomplete', complete: false }],
  ])('where %s', async (_, found, expected) => {
    expect(await receipt(found)).toMatchObject({ compared: 'all', ...expected });
  });

  it('where the service does not give a resource that was named', async () => {
    const found = [of('patients'), gone];
    expect(await receipt(found, undefined, undefined, ['documents'])).toMatchObject({ result: 'incomplete' });
    expect(await receipt(found, undefined, undefined, ['patients'])).toMatchObject({ result: 'equal' });
  });
});

it('a receipt says of a sample that it is one, and of what size', async () => {
  expect(await receipt([of('patients')], 20)).toMatchObject({ compared: 'sample', sample: 20, result: 'equal' });
  expect(await receipt([of('patients')])).not.toHaveProperty('sample');
});

it('a receipt has digests of what was compared alone, and says why another was not', async () => {
  const { resources } = await receipt([of('patients'), failed, gone]);
  expect(resources.map(({ tables }: { tables: unknown[] }) => tables.length > 0)).toEqual([true, false, false]);
  expect(resources.map(({ unavailable, failure }: VerifiedResource) => [unavailable, failure])).toEqual([
    [null, null],
    [null, cutOff.message],
    ['HTTP 404', null],
  ]);
});

it('a receipt of a de-identified copy does not repeat what the service said', async () => {
  const proof = await receipt([of('patients'), failed], undefined, { key: 'k', file: '/keys/the.key' });
  expect(proof.resources[1].failure).toBe('http.500');
  expect(JSON.stringify(proof)).not.toContain('Ann');
});
