import { openAtomicFile } from '../core/output/atomicfile.ts';
import { project } from '../core/output/columns.ts';
import type { Formatter } from '../core/output/format.ts';
import { jsonFormatter, ndjsonFormatter } from '../core/output/json.ts';
import { type ByteSink, type Sink, streamSink } from '../core/output/sink.ts';
import { openSpool } from '../core/output/spooled.ts';
import { writePages } from '../core/output/writepages.ts';
import type { Page } from '../core/pages/walk.ts';
import type { Context } from './context.ts';
import { type FlagValues, isOn } from './flagvalues.ts';
import { memoryKeeper } from './memory.ts';
import { type RowPlan, TERMINAL_LIMIT } from './rowplan.ts';
import { type Progress, unlessAborted } from './streams.ts';

export interface RowWriting {
  readonly context: Context;
  readonly flags: FlagValues;
  readonly plan: RowPlan;
  /** What the records are called: `patients`. */
  readonly many: string;
  /** Called once the output is known to be writable, so that nothing is asked of the server in vain. */
  readonly open: () => Promise<AsyncIterable<Pick<Page, 'rows'>>>;
  /** Prints a line for people. */
  readonly note: (text: string) => Promise<void>;
}

/** Writes rows in the form and to the place that the plan says, and tells people what they need to know. */
export async function writeRows(writing: RowWriting): Promise<void> {
  const { context, flags, plan, many, note } = writing;
  const hidden: string[] = [];
  const formatter = await formatterOf(plan, flags, context, (names) => hidden.push(...names));
  const sink = await sinkOf(plan, context, many);
  const counter = new RowCounter(context, isOn(flags, 'quiet') || plan.toTerminal, many);
  const keepMemory = memoryKeeper();
  let total: number;
  try {
    const isRecord = plan.format === 'json' || plan.format === 'ndjson';
    total = await writePages(stoppable(writing.open, context.signal), {
      formatter,
      sink,
      ...(isRecord && { shape: (row) => project(row, plan.selection) }),
      onRows: (rows) => {
        counter.at(rows);
        keepMemory(rows);
      },
    });
  } finally {
    counter.stop();
  }
  if (hidden.length > 0) await note(`The terminal is too narrow for: ${hidden.join(', ')}. Choose with --fields.`);
  if (plan.isDefaultLimit && total >= TERMINAL_LIMIT) {
    await note(`These are the first ${TERMINAL_LIMIT} ${many}. Add --all for every one, or --limit N.`);
  } else if (total === 0 && plan.format === 'table') {
    await note(`No ${many} match.`);
  }
  if (plan.out !== undefined && context.streams.stderr.isTTY)
    await note(`Wrote ${counted(total)} ${many} to ${plan.out}.`);
}

async function formatterOf(
  plan: RowPlan,
  flags: FlagValues,
  context: Context,
  onHidden: (names: readonly string[]) => void,
): Promise<Formatter> {
  const header = !isOn(flags, 'no-header');
  switch (plan.format) {
    case 'json':
      return jsonFormatter();
    case 'ndjson':
      return ndjsonFormatter();
    case 'csv': {
      const { csvFormatter } = await import('../core/output/csv.ts');
      const options = { header, excel: isOn(flags, 'excel'), escapeFormulas: !isOn(flags, 'no-escape-formulas') };
      return csvFormatter(plan.columns, options);
    }
    case 'xlsx': {
      const { sheetFormatter } = await import('../core/output/xlsxsheet.ts');
      return sheetFormatter(plan.columns, { header });
    }
    case 'html':
      throw new Error('A page is written as a whole.');
    case 'table': {
      const { tableFormatter } = await import('../core/output/table.ts');
      const width = plan.toTerminal ? (context.streams.stdout.columns ?? 80) : undefined;
      return tableFormatter(plan.columns, { width, header, sort: plan.sort, onHidden });
    }
  }
}

async function sinkOf(plan: RowPlan, context: Context, many: string): Promise<Sink> {
  if (plan.format !== 'xlsx') return placeOf(plan, context);
  const { xlsxSink } = await import('../core/output/xlsx.ts');
  return xlsxSink(await placeOf(plan, context), many);
}

/** A file; else stdout, where `json` and `xlsx`, worth nothing in part, are whole or not there at all. */
async function placeOf(plan: RowPlan, context: Context): Promise<ByteSink> {
  const write = (chunk: string | Uint8Array) => unlessAborted(context.streams.stdout.write(chunk), context.signal);
  if (plan.out !== undefined) return openAtomicFile(plan.out);
  const isWhole = plan.format === 'json' || plan.format === 'xlsx';
  return isWhole ? openSpool(context.temporaryFolder, write) : streamSink(write);
}

/** Pages until a signal comes: then the run ends with its failure, even between two requests. */
async function* stoppable(
  open: () => Promise<AsyncIterable<Pick<Page, 'rows'>>>,
  signal: AbortSignal,
): AsyncGenerator<Pick<Page, 'rows'>> {
  for await (const page of await open()) {
    signal.throwIfAborted();
    yield page;
  }
  signal.throwIfAborted();
}

/** Short commands show no progress. */
const PATIENCE = 1000;

/** Tells on the terminal how many rows have come. */
class RowCounter {
  private readonly context: Context;
  private readonly silent: boolean;
  private readonly many: string;
  private readonly started: number;
  private progress: Promise<Progress> | undefined;
  private stopped = false;

  constructor(context: Context, silent: boolean, many: string) {
    this.context = context;
    this.silent = silent || context.streams.startProgress === undefined;
    this.many = many;
    this.started = context.clock.now();
  }

  readonly at = (total: number): void => {
    if (this.silent || this.context.clock.now() - this.started < PATIENCE) return;
    this.progress ??= this.context.streams.startProgress?.();
    void this.progress?.then((progress) => {
      if (!this.stopped) progress.show(`${counted(total)} ${this.many}`);
    });
  };

  stop(): void {
    this.stopped = true;
    void this.progress?.then((progress) => progress.stop());
  }
}

function counted(total: number): string {
  return total.toLocaleString('en-US');
}
