import { untilAborted } from '../../core/abort.ts';
import { countText } from '../../core/count.ts';
import type { ScanFormat } from '../../core/jsonscan/scanformats.ts';
import { openAtomicFile } from '../../core/output/atomicfile.ts';
import { project } from '../../core/output/columns.ts';
import type { CsvOptions } from '../../core/output/csv.ts';
import type { WriterOptions } from '../../core/output/format.ts';
import { FORMATS, safeFormatter } from '../../core/output/formats.ts';
import type { LocalClock } from '../../core/output/localclock.ts';
import { openSpool, type Sink, streamSink } from '../../core/output/sink.ts';
import { type Formatter, writePages } from '../../core/output/writepages.ts';
import type { Page, Row } from '../../core/pages/page.ts';
import { RecordSpool } from '../../core/stream/recordspool.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { readClock, recordZonesText, zoneText } from '../flags/zone.ts';
import { periodicCollector, RAW_RECORDS } from '../process/memory.ts';
import { pagedSink } from '../terminal/pager.ts';
import { RowProgress } from '../terminal/progress.ts';
import { styleOf } from '../terminal/style.ts';
import { type RowPlan, TERMINAL_LIMIT } from './plan.ts';
import { sortPages } from './sort.ts';

/** Rows to write, and how to get them. */
export interface RowWriting {
  readonly context: Context;
  readonly flags: FlagValues;
  readonly plan: RowPlan;
  /** What one record is called, and what several are: `patient`, `patients`. */
  readonly one?: string;
  readonly many: string;
  /** Where `open` gives pages that were read for it. */
  readonly lines?: ScanFormat | undefined;
  /** Called once the output is known to be writable, so that nothing is requested in vain. */
  readonly open: (progress: RowProgress) => Promise<AsyncIterable<Pick<Page, 'rows'>>>;
  /** How to get fewer columns, as a sentence. */
  readonly narrower?: string;
  /** Prints a line for people. */
  readonly note: (text: string) => Promise<void>;
}

/** Writes rows in the format and to the destination of the plan, and tells people what they need to know. */
export async function writeRows(writing: RowWriting): Promise<void> {
  const { context, flags, plan, one = 'record', many, lines, narrower = 'Choose with --fields.', note } = writing;
  const { isForPeople } = FORMATS[plan.format];
  const hidden: string[] = [];
  const formatter = lines?.formatter(0) ?? (await formatterOf(plan, flags, context, { hidden }));
  const pack = await packing(plan, flags, context, { one, many });
  const sink = pack(await openSink(plan, context));
  const progress = new RowProgress(context, isOn(flags, 'quiet') || plan.toTerminal, many);
  const collect = periodicCollector(lines && RAW_RECORDS);
  let total: number;
  try {
    const open = async () => sortPages(await writing.open(progress), plan.sort, context, (rows) => progress.at(rows));
    total = await writePages(interruptible(open, context.signal), {
      ...{ formatter, sink },
      ...(lines === undefined && shaping(plan)),
      onRows: (rows) => {
        if (plan.sort === undefined) progress.at(rows);
        collect(rows);
      },
    });
  } finally {
    await progress.stop();
  }
  if (hidden.length > 0) await note(`The terminal is too narrow for: ${hidden.join(', ')}. ${narrower}`);
  const zone = total === 0 ? undefined : zoneNote(plan, flags, context);
  if (zone !== undefined) await note(zone);
  if (plan.isDefaultLimit && total >= TERMINAL_LIMIT) {
    await note(`These are the first ${TERMINAL_LIMIT} ${many}. Add --all for every one, or --limit N.`);
  } else if (total === 0 && isForPeople) {
    await note(`No ${many} match.`);
  }
  if (plan.out !== undefined && context.streams.stderr.isTTY)
    await note(`Wrote ${countText(total)} ${total === 1 ? one : many} to ${plan.out}.`);
}

/** Rows that are in memory already, as the only page. */
export async function* singlePage<T>(rows: readonly T[]): AsyncGenerator<{ readonly rows: readonly T[] }> {
  yield { rows };
}

/** What writers know of the terminal, the zone and the flags. */
export function writerOptions(toTerminal: boolean, flags: FlagValues, context: Context): WriterOptions & CsvOptions {
  let known: LocalClock | undefined;
  const clock = () => {
    known ??= readClock(flags, context);
    return known;
  };
  return {
    width: toTerminal ? (context.streams.stdout.columns ?? 80) : undefined,
    style: styleOf(context, toTerminal),
    clock,
    clockOf: clock,
    ...csvOptions(flags),
  };
}

/** What the flags say about the form of CSV and TSV. */
export function csvOptions(flags: FlagValues): CsvOptions {
  return {
    header: !isOn(flags, 'no-header'),
    excel: isOn(flags, 'excel'),
    escapeFormulas: !isOn(flags, 'no-escape-formulas'),
  };
}

/**
 * The formatter of a plan; what it makes for a terminal is safe there. `hidden` gets the columns that the terminal was
 * too narrow for; `written` records are in the output already.
 */
export async function formatterOf(
  plan: RowPlan,
  flags: FlagValues,
  context: Context,
  { hidden, written = 0 }: { readonly hidden: string[]; readonly written?: number },
): Promise<Formatter> {
  const { columns, format, toTerminal, clockOf } = plan;
  const { rows } = FORMATS[format];
  if (rows === undefined) throw new Error(`${format} is not written row by row.`);
  const onHidden = (names: readonly string[]) => hidden.push(...names);
  const options = writerOptions(toTerminal, flags, context);
  const formatter = await rows({ ...options, ...(clockOf && { clockOf }), columns, written, onHidden });
  return toTerminal ? safeFormatter(formatter, format) : formatter;
}

/**
 * The same for records that are written while their page is read, which takes a fraction of the time; undefined where
 * the format has no such writer, or the records have to be parsed first.
 */
export async function scanFormatOf(plan: RowPlan, flags: FlagValues): Promise<ScanFormat | undefined> {
  const { content, scan } = FORMATS[plan.format];
  // Selected names of a record have an order of their own.
  const isReshaped = plan.selection !== undefined && content === 'records';
  if (plan.toTerminal || isReshaped || plan.shape !== undefined || plan.sort !== undefined) return undefined;
  return scan?.(plan.columns, csvOptions(flags));
}

/** Records have the selected names only; the columns of other formats select by themselves. */
export function shaping({ format, selection, shape }: RowPlan): { readonly shape?: (row: Row) => Row } {
  if (shape !== undefined) return { shape };
  return FORMATS[format].content === 'records' ? { shape: (row) => project(row, selection) } : {};
}

/** Puts the text of a format that needs a container into one, which `names` name. */
export async function packing(
  { format, columns, clockOf }: RowPlan,
  flags: FlagValues,
  context: Context,
  names: { readonly one: string; readonly many: string },
): Promise<(inner: Sink) => Sink> {
  const { signal, temporaryFolder } = context;
  const openSpool = () => RecordSpool.open(temporaryFolder);
  const options = writerOptions(false, flags, context);
  const look = { ...options, ...names, ...(clockOf && { clockOf }), columns, openSpool, signal };
  return FORMATS[format].pack?.(look) ?? ((inner) => inner);
}

/** Which zone the times of a table are in, undefined where it shows none; a spreadsheet says it in its header. */
export function zoneNote({ format, columns, zones }: RowPlan, flags: FlagValues, context: Context): string | undefined {
  const hasTimes = FORMATS[format].isForPeople && columns.some(({ kind }) => kind === 'dateTime');
  if (!hasTimes) return undefined;
  return `${zones === undefined ? zoneText(flags, context) : recordZonesText(zones, flags, context)}.`;
}

/** A file; else standard output, which gets formats that are worthless in part only when they are complete. */
async function openSink(plan: RowPlan, context: Context): Promise<Sink> {
  if (plan.out !== undefined) return openAtomicFile(plan.out);
  const write = (chunk: string | Uint8Array) => untilAborted(context.streams.stdout.write(chunk), context.signal);
  const { page } = context.streams;
  if (page !== undefined && plan.toTerminal && FORMATS[plan.format].isForPeople) return pagedSink(page, write);
  return FORMATS[plan.format].isBuffered ? openSpool(context.temporaryFolder, write) : streamSink(write);
}

/** Pages until a signal arrives: then the run ends with its failure, even between two requests. */
async function* interruptible(
  open: () => Promise<AsyncIterable<Pick<Page, 'rows'>>>,
  signal: AbortSignal,
): AsyncGenerator<Pick<Page, 'rows'>> {
  for await (const page of await open()) {
    signal.throwIfAborted();
    yield page;
  }
  signal.throwIfAborted();
}
