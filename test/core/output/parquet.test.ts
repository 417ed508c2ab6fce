import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { transactions } from '../../../src/catalog/resources/transactions.ts';
import type { Column } from '../../../src/core/output/columns.ts';
import { parquetFormatter } from '../../../src/core/output/parquet.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { parquetRows } from '../../support/parquet.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});

afterEach(() => rm(folder, { recursive: true }));

const columnOf = (name: string): Column => ({ name, path: [name], isId: name === 'id' });

/** What DuckDB finds in a file of these columns of transactions that is written page by page. */
async function readAgain(names: readonly string[], pages: readonly (readonly Row[])[]) {
  const { begin, rows, end } = parquetFormatter(names.map(columnOf), transactions.fields);
  const parts = [begin(), ...pages.map((page) => rows([...page])), end()];
  const file = join(folder, 'written.parquet');
  await writeFile(file, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return parquetRows(file);
}

const record = (at: number): Row => ({
  id: 9_007_199_254_000_000 + at,
  amount: at % 7 === 0 ? null : (at - 500) / 100,
  isActive: at % 3 === 0,
});

it('has instants as instants, which are the same in every zone', async () => {
  const records = [{ lastModified: '2026-03-08T09:30:00.123Z' }, { lastModified: null }];
  expect(await readAgain(['lastModified'], [records])).toEqual({
    types: { lastModified: 'TIMESTAMP WITH TIME ZONE' },
    rows: records,
  });
});

it.each([0, 1, 9_999, 10_000, 10_001, 25_000])(
  'a file of %i records has each of them, in their order',
  async (count) => {
    const all = Array.from({ length: count }, (_, at) => record(at));
    const pages = Array.from({ length: Math.ceil(count / 500) }, (_, at) => all.slice(at * 500, (at + 1) * 500));
    expect((await readAgain(['id', 'amount', 'isActive'], pages)).rows).toEqual(all);
  },
);
