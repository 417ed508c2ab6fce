import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExportStart, ExportTask } from '../../../src/core/exports/exporttask.ts';
import type { Journal } from '../../../src/core/exports/journal.ts';
import { Failure, localFailure } from '../../../src/core/failure.ts';
import type { RowPage } from '../../../src/core/pages/page.ts';
import type { WalkedPage, WalkPosition } from '../../../src/core/pages/walkoptions.ts';
import { emptyFolder, exportOf, PLAIN, type Run } from './running.ts';

type ReadPage = Pick<WalkedPage, 'rows' | 'position'>;

const NOON = Date.UTC(2026, 2, 2, 12);
const STOPPED = localFailure('run.terminated', 'Stopped.');

const page = (ids: readonly number[], position?: WalkPosition): ReadPage => ({
  rows: ids.map((id) => ({ id, lastName: `Name ${id}` })),
  position,
});

/** Pages that end with a failure, if any. */
async function* pagesOf(pages: readonly ReadPage[], failure?: Error): AsyncGenerator<ReadPage> {
  yield* pages;
  if (failure !== undefined) throw failure;
}

async function journalOf(path: string): Promise<Journal> {
  return JSON.parse(await readFile(`${path}.part.json`, 'utf8'));
}

async function outPath(): Promise<string> {
  return join(await emptyFolder(), 'out.csv');
}

const reading = (path: string, open: ExportTask['open'], { more, ...run }: Partial<Run> = {}) =>
  exportOf(path, PLAIN, { pageSize: 1, ...run, more: { ...more, open } });

const linesOf = async (path: string) => (await readFile(path, 'utf8')).trimEnd().split('\n');

describe('the journal', () => {
  it('is replaced at most once a second, after a page that a later run can go on from', async () => {
    const path = await outPath();
    const seen: number[] = [];
    let time = NOON;
    // Milliseconds since the start; the page that arrives at 3000 has no position.
    const arrivals = [400, 999, 1000, 1500, 1999, 2000, 3000, 3001, 3500];
    async function* pages() {
      for (const [at, milliseconds] of arrivals.entries()) {
        time = NOON + milliseconds;
        yield page([at + 1], milliseconds === 3000 ? undefined : { lastId: `${at + 1}`, fetched: at + 1 });
        seen.push((await journalOf(path)).pages);
      }
    }
    await reading(path, async () => pages(), { clock: { now: () => time, sleep: () => Promise.resolve() } });
    expect(seen).toEqual([0, 0, 3, 3, 3, 6, 6, 8, 8]);
    expect(await linesOf(path)).toHaveLength(1 + arrivals.length);
  });

  it('has the filter of the user, to compare, and the one that was sent, as the receipt has it', async () => {
    const path = await outPath();
    const filter = 'lastName~=N,lastModified>=2026';
    const first = page([1], { lastId: '1', fetched: 1 });
    await expect(reading(path, async () => pagesOf([first], STOPPED), { more: { filter } })).rejects.toThrow();
    expect(await journalOf(path)).toMatchObject({ filter: 'lastName~=N', sentFilter: filter });
    const { receipt } = await reading(path, async () => pagesOf([page([2])]), { resume: true, more: { filter } });
    expect(receipt).toMatchObject({ filter, rows: 2 });
  });
});

describe('an export of several runs', () => {
  it('sums what they took, and tells of each how far a later one can go on from', async () => {
    const path = await outPath();
    const told: unknown[] = [];
    const run = (id: number, took: readonly [number, number] | undefined, failure?: Error) =>
      reading(path, async () => pagesOf([page([id], { lastId: `${id}`, fetched: id }), page([id + 1])], failure), {
        resume: true,
        statistics: () => took && { requests: 9, retries: took[0], throttledMilliseconds: took[1] },
        more: { onInterrupted: (export_) => told.push(export_) },
      });
    await expect(run(1, [2, 1240], STOPPED)).rejects.toThrow();
    await expect(run(2, undefined, STOPPED)).rejects.toThrow();
    await expect(run(3, [3, 500], STOPPED)).rejects.toThrow();
    const { receipt } = await run(4, [1, 70]);
    const resumable = true;
    expect(told).toMatchObject([
      { rows: 1, pages: 1, retries: 2, throttledMilliseconds: 1240, resumed: 0, resumable },
      { rows: 2, pages: 2, retries: 2, throttledMilliseconds: 1240, resumed: 1, resumable },
      { rows: 3, pages: 3, retries: 5, throttledMilliseconds: 1740, resumed: 2, resumable },
    ]);
    expect(receipt).toMatchObject({ rows: 5, pages: 5, retries: 6, throttledSeconds: 1.8, resumed: 3 });
    expect(await linesOf(path)).toEqual(['id,lastName', ...[1, 2, 3, 4, 5].map((id) => `${id},Name ${id}`)]);
  });

  it('reads on from the last row received, and counts those written', async () => {
    const path = await outPath();
    const from: unknown[] = [];
    const totals: number[] = [];
    const resumed: number[] = [];
    const run = (pages: readonly ReadPage[], failure?: Error) =>
      reading(
        path,
        async (start) => {
          from.push(start.from);
          return pagesOf(pages, failure);
        },
        {
          resume: true,
          more: {
            isNew: ({ id }) => Number(id) > 2,
            onRows: (total) => totals.push(total),
            onResume: (rows) => resumed.push(rows),
          },
        },
      );
    await expect(run([page([1, 2], { lastId: '2', fetched: 2 })], STOPPED)).rejects.toMatchObject({
      hint: 'Run it again with --resume to continue after 0 records.',
    });
    await expect(run([page([3], { lastId: '3', fetched: 3 }), page([9])], STOPPED)).rejects.toMatchObject({
      hint: 'Run it again with --resume to continue after 1 record.',
    });
    expect(await journalOf(path)).toMatchObject({ rows: 1, fetched: 3, pages: 2, lastId: '3', writtenId: '3' });
    totals.length = 0;
    const { receipt } = await run([page([4, 5], { lastId: '5', fetched: 5 })]);
    expect(from).toEqual([undefined, { lastId: '2', fetched: 2 }, { lastId: '3', fetched: 3 }]);
    expect(resumed).toEqual([0, 1]);
    expect(totals.at(-1)).toBe(3);
    expect(receipt).toMatchObject({ rows: 3, pages: 3, firstId: 3, lastId: 5 });
    expect(await linesOf(path)).toEqual(['id,lastName', '3,Name 3', '4,Name 4', '5,Name 5']);
  });
});

describe('an interruption', () => {
  it.each<[string, number, number]>([
    ['before a page that arrives all the same', 1, 1],
    ['after the last page', 2, 2],
  ])('ends the run: %s', async (_name, after, rows) => {
    const path = await outPath();
    const stopping = new AbortController();
    async function* pages() {
      for (const id of [1, 2]) {
        yield page([id], { lastId: `${id}`, fetched: id });
        if (id === after) stopping.abort(STOPPED);
      }
    }
    await expect(reading(path, async () => pages(), { signal: stopping.signal })).rejects.toMatchObject({
      code: 'run.terminated',
    });
    await expect(access(path)).rejects.toThrow();
    expect(await journalOf(path)).toMatchObject({ rows, pages: rows });
    expect(await linesOf(`${path}.part`)).toHaveLength(1 + rows);
  });

  it('by a failure keeps all that is known of it, and says how to go on', async () => {
    const facts = { code: 'server.unavailable', exitCode: 8, status: 503, requestId: 'req-9' } as const;
    const items = [{ code: 'server.unavailable', title: 'Title', source: null, description: 'No.' }];
    const cause = new Failure('It failed.', { ...facts, items, hint: 'Wait.' });
    const first = page([1], { lastId: '1', fetched: 1 });
    const failure = await reading(await outPath(), async () => pagesOf([first], cause)).catch((thrown) => thrown);
    expect(failure).toMatchObject({ ...facts, message: 'It failed.', items, cause });
    expect(failure.hint).toBe('Wait. Run it again with --resume to continue after 1 record.');
  });

  it.each<[string, Failure]>([
    ['has nothing to add', new Failure('It failed.', { code: 'server.unavailable', exitCode: 8, hint: null })],
    [
      'took too long, and says what to do itself',
      localFailure('run.overtime', 'It took too long.', { hint: 'Later.' }),
    ],
  ])('by a failure that %s says how to go on, and no more', async (_name, cause) => {
    const first = page([1], { lastId: '1', fetched: 1 });
    await expect(reading(await outPath(), async () => pagesOf([first], cause))).rejects.toMatchObject({
      hint: 'Run it again with --resume to continue after 1 record.',
    });
  });

  it('by a defect of ours leaves it as it is, and what a later run can go on from', async () => {
    const path = await outPath();
    const defect = new TypeError('x is no function');
    const first = page([1], { lastId: '1', fetched: 1 });
    await expect(reading(path, async () => pagesOf([first], defect))).rejects.toBe(defect);
    expect(await journalOf(path)).toMatchObject({ rows: 1, lastId: '1' });
  });

  it('because records are missing leaves nothing to resume', async () => {
    const path = await outPath();
    const incomplete = localFailure('pages.incomplete', 'Records are missing.');
    const told: unknown[] = [];
    const more = { onInterrupted: ({ resumable }: { readonly resumable: boolean }) => told.push(resumable) };
    const first = page([1], { lastId: '1', fetched: 1 });
    await expect(reading(path, async () => pagesOf([first], incomplete), { more })).rejects.toBe(incomplete);
    expect(told).toEqual([false]);
    expect(await readdir(join(path, '..'))).toEqual([]);
  });
});

describe('a finished export', () => {
  const HOUR = 3_600_000;

  it.each<[string, readonly number[], number]>([
    ['the first response, whatever later ones say', [NOON - HOUR, NOON - HOUR / 2], NOON - HOUR],
    ['the first response, also where later ones are earlier', [NOON - HOUR, NOON - 2 * HOUR], NOON - HOUR],
    ['our clock, where that of the server is ahead', [NOON + HOUR, NOON - HOUR], NOON],
    ['a day before our start, where the server has no clock', [], NOON - 24 * HOUR],
  ])('was read from the time of %s', async (_name, times, expected) => {
    async function* pages({ onServerTime }: ExportStart) {
      for (const [at, time] of times.entries()) {
        onServerTime(time);
        yield page([at + 1]);
      }
    }
    let now = NOON;
    const clock = { now: () => now, sleep: () => Promise.resolve() };
    const { readFrom, receipt } = await reading(
      await outPath(),
      async (start) => {
        now += HOUR;
        return pages(start);
      },
      { clock },
    );
    expect(readFrom).toBe(expected);
    expect(receipt).toMatchObject({ startedAt: '2026-03-02T12:00:00.000Z', endedAt: '2026-03-02T13:00:00.000Z' });
  });

  it('has the order and the shape of its task, and tells of its proof and its mirror', async () => {
    const path = await outPath();
    const proof = { by: 'mirror', counted: 3, unproved: null } as const;
    const asOf = '2026-03-01T08:00:00.000Z';
    async function* reversed(pages: AsyncIterable<RowPage>): AsyncGenerator<RowPage> {
      const rows = [];
      for await (const read of pages) rows.unshift(...read.rows.toReversed());
      yield { rows };
    }
    const open: ExportTask['open'] = async ({ onProof }) => {
      onProof(proof);
      return pagesOf([page([1, 2]), page([3])]);
    };
    const shape: ExportTask['shape'] = (row) => ({ ...row, lastName: `${row.lastName}!` });
    const more = { resumable: false, asOf, reorder: reversed, shape };
    const { receipt } = await reading(path, open, { more });
    expect(receipt).toMatchObject({ rows: 3, pages: 2, firstId: 3, lastId: 1, asOf, proof });
    expect(await linesOf(path)).toEqual(['id,lastName', '3,Name 3!', '2,Name 2!', '1,Name 1!']);
  });
});
