import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../../src/core/pages/page.ts';
import { RowOrder } from '../../../src/core/sorting/roworder.ts';
import { sortedPages } from '../../../src/core/sorting/sortedpages.ts';
import { RecordSpool } from '../../../src/core/stream/recordspool.ts';

let folder: string;
let spools = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const openSpool = () => {
  spools++;
  return RecordSpool.open(folder);
};
const name = { name: 'name', path: ['name'], isId: false };
const ORDER = new RowOrder([{ column: name, descending: true }]);

async function* inPages(rows: readonly Row[], size: number) {
  for (let at = 0; at < rows.length; at += size) yield { rows: rows.slice(at, at + size) };
}

async function sorted(rows: readonly Row[], limit: number | undefined, runLength: number, size = 3): Promise<Row[]> {
  const found: Row[] = [];
  for await (const page of sortedPages(inPages(rows, size), { order: ORDER, limit, openSpool, runLength })) {
    found.push(...page.rows);
  }
  return found;
}

describe('sortedPages', () => {
  it('gives what sorting in memory gives, however many runs there are', async () => {
    const row = fc.record({ id: fc.integer({ min: 1, max: 30 }), name: fc.constantFrom('a', 'b', 'é\n"x"', '', null) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 60 }),
        fc.option(fc.nat(70), { nil: undefined }),
        fc.integer({ min: 1, max: 600 }),
        async (rows, limit, runLength) => {
          // The order in which equal rows came is kept, so they are told apart.
          const numbered = rows.map((each, at) => ({ ...each, at }));
          const expected = ORDER.sorted(numbered, (each) => each).slice(0, limit);
          expect(await sorted(numbered, limit, runLength)).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('holds no file open and none in the folder once it has ended, also early', async () => {
    const rows = Array.from({ length: 2000 }, (_, id) => ({ id: id + 1, name: 'x'.repeat(200) }));
    for await (const page of sortedPages(inPages(rows, 100), {
      order: ORDER,
      limit: undefined,
      openSpool,
      runLength: 9,
    })) {
      expect(page.rows).toHaveLength(500);
      expect(await readdir(folder)).toEqual([]);
      break;
    }
    const failing = async function* () {
      yield { rows };
      throw new Error('a page failed');
    };
    const ran = sortedPages(failing(), { order: ORDER, limit: 1, openSpool, runLength: 9 }).next();
    await expect(ran).rejects.toThrow('a page failed');
  });

  it('opens no spool where the rows fit into memory', async () => {
    const before = spools;
    expect(await sorted([{ id: 2 }, { id: 1 }], undefined, 1000)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(spools).toBe(before);
  });

  it('gives nothing for nothing', async () => {
    expect(await sorted([], undefined, 1000)).toEqual([]);
  });
});
