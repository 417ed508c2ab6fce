import type { Fields } from '../../catalog/record.ts';
import { Failure, localFailure, usageFailure } from '../../core/failure.ts';
import { openAtomicFile } from '../../core/output/atomicfile.ts';
import { type Column, columnsOf, project, valueAt } from '../../core/output/columns.ts';
import type { Format } from '../../core/output/format.ts';
import { type Sink, streamSink } from '../../core/output/sink.ts';
import { terminalSafe } from '../../core/output/terminalsafe.ts';
import type { Row } from '../../core/pages/page.ts';
import type { Context } from '../context.ts';
import { checkFormatFlags, chosenFormat } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { readClock, zoneText } from '../flags/zone.ts';
import { Notes } from '../terminal/notes.ts';
import { styleOf } from '../terminal/style.ts';
import { readSelection } from './plan.ts';

/** Form and place of the output of one record. */
export interface RecordPlan {
  readonly format: Format;
  readonly selection: readonly string[] | undefined;
  readonly out: string | undefined;
}

/** Reads and checks the output flags of a command that shows one record; JSON unless it goes to a terminal. */
export function planRecord(flags: FlagValues, fields: Fields, context: Context): RecordPlan {
  const out = textFlag(flags, 'out');
  if (out === '') throw usageFailure('--out must name a file.', { source: '--out' });
  const format = chosenFormat(flags, context.streams.stdout.isTTY && out === undefined, 'json');
  checkFormatFlags(flags, format);
  return { format, selection: readSelection(flags, fields), out };
}

/** Opens the place of the output; before the request, so that a file that cannot be written costs nothing. */
async function openRecordSink(plan: RecordPlan, context: Context): Promise<Sink> {
  return plan.out === undefined ? streamSink(context.streams.stdout.write) : openAtomicFile(plan.out);
}

/**
 * Gets a record with the output open, and writes it; the output stays as it was when anything fails. `done` says of a
 * write what it did, for when that cannot be shown any more.
 */
export async function writeRecord(
  plan: RecordPlan,
  fields: Fields,
  flags: FlagValues,
  context: Context,
  get: () => Promise<Row>,
  done?: (record: Row) => string,
): Promise<void> {
  const sink = await openRecordSink(plan, context);
  let record: Row | undefined;
  try {
    record = await get();
    const text = await recordText(record, plan, fields, flags, context);
    const toTerminal = context.streams.stdout.isTTY && plan.out === undefined;
    await sink.write(toTerminal ? terminalSafe(plan.format)(text) : text);
    await sink.commit();
  } catch (cause) {
    await sink.abort();
    if (record === undefined || done === undefined || !(cause instanceof Failure)) throw cause;
    throw localFailure('local.file', `${cause.message} ${done(record)}`, { cause, hint: 'Do not send it again.' });
  }
  await sayZone(record, plan, fields, flags, context);
}

/** Says which zone the times of a record on a terminal are in. */
async function sayZone(record: Row, plan: RecordPlan, fields: Fields, flags: FlagValues, context: Context) {
  if (plan.format !== 'table' || isOn(flags, 'quiet')) return;
  const isTime = (column: Column) => column.kind === 'dateTime' && valueAt(record, column) != null;
  if (!columnsOf(fields, plan.selection).some(isTime)) return;
  await new Notes(context.streams.stderr, false).say(`${zoneText(flags, context)}.`);
}

async function recordText(
  record: Row,
  plan: RecordPlan,
  fields: Fields,
  flags: FlagValues,
  context: Context,
): Promise<string> {
  const { format, selection } = plan;
  switch (format) {
    case 'json':
      return `${JSON.stringify(project(record, selection), null, 2)}\n`;
    case 'ndjson':
      return `${JSON.stringify(project(record, selection))}\n`;
    case 'csv': {
      const { csvFormatter } = await import('../../core/output/csv.ts');
      const formatter = csvFormatter(columnsOf(fields, selection), {
        header: !isOn(flags, 'no-header'),
        excel: isOn(flags, 'excel'),
        escapeFormulas: !isOn(flags, 'no-escape-formulas'),
      });
      return formatter.begin() + formatter.rows([record]) + formatter.end();
    }
    case 'xlsx':
    case 'html':
      throw new Error('A record has no such form.');
    case 'table': {
      const { recordTable } = await import('../../core/output/record.ts');
      const { default: CliTable } = await import('cli-table3');
      const width = plan.out === undefined ? context.streams.stdout.columns : undefined;
      const style = styleOf(context, plan.out === undefined);
      return recordTable(CliTable, record, fields, { width, selection, style, clock: readClock(flags, context) });
    }
  }
}
