import type { ScanFormat } from '../../core/jsonscan/scanformats.ts';
import { openAtomicFile } from '../../core/output/atomicfile.ts';
import { project } from '../../core/output/columns.ts';
import { type Sink, streamSink } from '../../core/output/sink.ts';
import { openSpool } from '../../core/output/spooled.ts';
import { writePages } from '../../core/output/writepages.ts';
import type { Page, Row } from '../../core/pages/page.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { periodicCollector, RAW_RECORDS } from '../process/memory.ts';
import { RowProgress } from '../terminal/progress.ts';
import { unlessAborted } from '../terminal/streams.ts';
import { counted } from '../terminal/text.ts';
import { formatterOf, packing, zoneNote } from './formatter.ts';
import { type RowPlan, TERMINAL_LIMIT } from './plan.ts';
import { mapInOrder } from './sort.ts';

export interface RowWriting {
  readonly context: Context;
  readonly flags: FlagValues;
  readonly plan: RowPlan;
  /** What one record is called, and what several are: `patient`, `patients`. */
  readonly one?: string;
  readonly many: string;
  /** Where `open` gives pages that were read for it. */
  readonly lines?: ScanFormat | undefined;
  /** Called once the output is known to be writable, so that nothing is asked of the server in vain. */
  readonly open: (progress: RowProgress) => Promise<AsyncIterable<Pick<Page, 'rows'>>>;
  /** Prints a line for people. */
  readonly note: (text: string) => Promise<void>;
}

/** Writes rows in the form and to the place that the plan says, and tells people what they need to know. */
export async function writeRows(writing: RowWriting): Promise<void> {
  const { context, flags, plan, one = 'record', many, note } = writing;
  const hidden: string[] = [];
  const formatter = writing.lines?.formatter(0) ?? (await formatterOf(plan, flags, context, { hidden }));
  const pack = await packing(plan, many);
  const sink = pack(await placeOf(plan, context));
  const progress = new RowProgress(context, isOn(flags, 'quiet') || plan.toTerminal, many);
  const keepMemory = periodicCollector(writing.lines && RAW_RECORDS);
  let total: number;
  try {
    total = await writePages(
      stoppable(
        async () => mapInOrder(await writing.open(progress), plan.sort, context, (rows) => progress.at(rows)),
        context.signal,
      ),
      {
        formatter,
        sink,
        ...(writing.lines === undefined && shaping(plan)),
        onRows: (rows) => {
          if (plan.sort === undefined) progress.at(rows);
          keepMemory(rows);
        },
      },
    );
  } finally {
    progress.stop();
  }
  if (hidden.length > 0) await note(`The terminal is too narrow for: ${hidden.join(', ')}. Choose with --fields.`);
  const zone = total === 0 ? undefined : zoneNote(plan, flags, context);
  if (zone !== undefined) await note(zone);
  if (plan.isDefaultLimit && total >= TERMINAL_LIMIT) {
    await note(`These are the first ${TERMINAL_LIMIT} ${many}. Add --all for every one, or --limit N.`);
  } else if (total === 0 && plan.format === 'table') {
    await note(`No ${many} match.`);
  }
  if (plan.out !== undefined && context.streams.stderr.isTTY)
    await note(`Wrote ${counted(total)} ${total === 1 ? one : many} to ${plan.out}.`);
}

/** Rows that are in memory already, as the only page. */
export async function* singlePage<T>(rows: readonly T[]): AsyncGenerator<{ readonly rows: readonly T[] }> {
  yield { rows };
}

/** Records keep the selected names only; the columns of other forms select by themselves. */
export function shaping(plan: RowPlan): { readonly shape?: (row: Row) => Row } {
  const isRecord = plan.format === 'json' || plan.format === 'ndjson';
  return isRecord ? { shape: (row) => project(row, plan.selection) } : {};
}

/** A file; else stdout, where `json` and `xlsx`, worth nothing in part, are whole or not there at all. */
async function placeOf(plan: RowPlan, context: Context): Promise<Sink> {
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
