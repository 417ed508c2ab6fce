import type { Row, RowPage } from '../pages/page.ts';
import type { RecordSpool } from '../stream/recordspool.ts';
import type { Keyed, RowOrder } from './roworder.ts';

/** Rows per page. */
const PAGE = 500;

/** Maximum characters of JSON that are sorted in memory at a time. */
const MAX_RUN = 8 * 1024 * 1024;

/** How to sort pages. */
export interface Sorting {
  readonly order: RowOrder;
  /** Maximum rows to yield; all where undefined. */
  readonly limit: number | undefined;
  /** Called when the rows are too many for memory. */
  readonly openSpool: () => Promise<RecordSpool>;
  /** Characters of JSON that are sorted in memory at a time. */
  readonly runLength?: number;
}

/**
 * Reads all pages, then yields their rows in order. Memory holds one run; when there are more, sorted runs are
 * written to a spool and merged (external merge sort). The sort is stable. Throws whatever the pages throw, and a
 * Failure with exit code 9 when the disk fails.
 */
export async function* sortedPages(pages: AsyncIterable<RowPage>, sorting: Sorting): AsyncGenerator<RowPage> {
  const { order, limit = Number.POSITIVE_INFINITY, openSpool, runLength = MAX_RUN } = sorting;
  const runs: Run[] = [];
  let spool: RecordSpool | undefined;
  let buffered: string[] = [];
  let length = 0;
  const sortBuffered = (): Keyed[] => {
    const run = buffered.map((text) => order.keyed(JSON.parse(text) as Row)).sort(order.compare);
    buffered = [];
    length = 0;
    // What is beyond the limit in one run is beyond it in the result.
    return run.slice(0, limit);
  };
  try {
    for await (const { rows } of pages) {
      for (const row of rows) {
        const text = JSON.stringify(row);
        buffered.push(text);
        length += text.length;
      }
      if (length < runLength) continue;
      spool ??= await openSpool();
      runs.push(await spooledRun(sortBuffered(), spool, order));
    }
    runs.push(new Run(once(sortBuffered())));
    yield* merged(runs, order, limit);
  } finally {
    await spool?.close();
  }
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

async function spooledRun(rows: readonly Keyed[], spool: RecordSpool, order: RowOrder): Promise<Run> {
  const start = await spool.flush();
  for (const { row } of rows) await spool.add(JSON.stringify(row));
  const end = await spool.flush();
  return new Run(batchesOf(spool, start, end, order));
}

async function* batchesOf(spool: RecordSpool, start: number, end: number, order: RowOrder) {
  for await (const lines of spool.forwards(start, end)) yield lines.map((line) => order.keyed(JSON.parse(line) as Row));
}

/** Sorted rows, of which a batch is in memory. */
class Run {
  private batch: readonly Keyed[] = [];
  private at = 0;

  constructor(private readonly batches: AsyncGenerator<readonly Keyed[]>) {}

  /** The next row; undefined when `fill` has to be awaited for it. */
  get head(): Keyed | undefined {
    return this.batch[this.at];
  }

  step(): void {
    this.at++;
  }

  /** Reads the next batch; the run is at its end when it still has no head. */
  async fill(): Promise<void> {
    const { value, done } = await this.batches.next();
    this.batch = done ? [] : value;
    this.at = 0;
  }
}

/** The rows of all runs merged into pages, at most `limit`; of equal ones those of the earlier run first. */
async function* merged(runs: readonly Run[], order: RowOrder, limit: number): AsyncGenerator<RowPage> {
  /** Runs that have a head, in its order. */
  const heads: { readonly run: Run; readonly index: number; readonly head: Keyed }[] = [];
  const insert = (run: Run, index: number, head: Keyed) => {
    let [low, high] = [0, heads.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = heads[middle];
      const isBehind = other !== undefined && (order.compare(head, other.head) || index - other.index) > 0;
      if (isBehind) low = middle + 1;
      else high = middle;
    }
    heads.splice(low, 0, { run, index, head });
  };
  for (const [index, run] of runs.entries()) {
    await run.fill();
    if (run.head !== undefined) insert(run, index, run.head);
  }
  let rows: Row[] = [];
  for (let left = limit; left > 0; left--) {
    const next = heads.shift();
    if (next === undefined) break;
    const { run, index, head } = next;
    rows.push(head.row);
    if (rows.length === PAGE) {
      yield { rows };
      rows = [];
    }
    run.step();
    if (run.head === undefined) await run.fill();
    if (run.head !== undefined) insert(run, index, run.head);
  }
  if (rows.length > 0) yield { rows };
}
