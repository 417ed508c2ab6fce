import type { ScanFormat } from '../../core/jsonscan/scanformats.ts';
import type { Formatter } from '../../core/output/format.ts';
import { jsonFormatter, ndjsonFormatter } from '../../core/output/json.ts';
import type { Sink } from '../../core/output/sink.ts';
import { safeFormatter } from '../../core/output/terminalsafe.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { readClock, zoneText } from '../flags/zone.ts';
import { styleOf } from '../terminal/style.ts';
import type { RowPlan } from './plan.ts';

export interface RowForm {
  /** Columns that the terminal was too narrow for. */
  readonly hidden: string[];
  /** Records that stand in the output already. */
  readonly written?: number;
}

/** What turns rows into the form that the plan says; nothing of the server reaches a terminal as a control character. */
export async function formatterOf(
  plan: RowPlan,
  flags: FlagValues,
  context: Context,
  form: RowForm,
): Promise<Formatter> {
  const formatter = await rawFormatter(plan, flags, context, form);
  return plan.toTerminal ? safeFormatter(formatter, plan.format) : formatter;
}

/**
 * The same for records that are written while their page is read, which takes a fraction of the time; undefined where
 * they have to be looked at first.
 */
export async function lineFormOf(plan: RowPlan, flags: FlagValues): Promise<ScanFormat | undefined> {
  // Selected names of JSON stand in an order of their own.
  const isSelected = plan.selection !== undefined && plan.format !== 'csv';
  if (plan.toTerminal || isSelected || plan.sort !== undefined) return undefined;
  const { csvScanFormat, jsonScanFormat, ndjsonScanFormat } = await import('../../core/jsonscan/scanformats.ts');
  switch (plan.format) {
    case 'csv':
      return csvScanFormat(plan.columns, csvOptions(flags));
    case 'json':
      return jsonScanFormat();
    case 'ndjson':
      return ndjsonScanFormat();
    default:
      return undefined;
  }
}

async function rawFormatter(
  plan: RowPlan,
  flags: FlagValues,
  context: Context,
  { hidden, written = 0 }: RowForm,
): Promise<Formatter> {
  const { header, excel, escapeFormulas } = csvOptions(flags);
  switch (plan.format) {
    case 'json':
      return jsonFormatter(written);
    case 'ndjson':
      return ndjsonFormatter();
    case 'csv': {
      const { csvFormatter } = await import('../../core/output/csv.ts');
      return csvFormatter(plan.columns, { header, excel, escapeFormulas });
    }
    case 'xlsx': {
      const { sheetFormatter } = await import('../../core/output/xlsxsheet.ts');
      return sheetFormatter(plan.columns, { header, clock: readClock(flags, context) });
    }
    case 'html':
      throw new Error('A page is written as a whole.');
    case 'table': {
      const { tableFormatter } = await import('../../core/output/table.ts');
      const width = plan.toTerminal ? (context.streams.stdout.columns ?? 80) : undefined;
      const style = styleOf(context, plan.toTerminal);
      const onHidden = (names: readonly string[]) => hidden.push(...names);
      const clock = readClock(flags, context);
      return tableFormatter(plan.columns, { width, header, clock, style, onHidden });
    }
  }
}

/** Which zone the times of a table are in, undefined where it shows none; a spreadsheet says it in its header. */
export function zoneNote(plan: RowPlan, flags: FlagValues, context: Context): string | undefined {
  const hasTimes = plan.format === 'table' && plan.columns.some(({ kind }) => kind === 'dateTime');
  return hasTimes ? `${zoneText(flags, context)}.` : undefined;
}

/** What the flags say about the form of CSV. */
export function csvOptions(flags: FlagValues) {
  return {
    header: !isOn(flags, 'no-header'),
    excel: isOn(flags, 'excel'),
    escapeFormulas: !isOn(flags, 'no-escape-formulas'),
  };
}

/** Packs the text of a spreadsheet; every other form goes to its place as it is. `many` names the sheet. */
export async function packing(plan: RowPlan, many: string): Promise<(inner: Sink) => Sink> {
  if (plan.format !== 'xlsx') return (inner) => inner;
  const { xlsxSink } = await import('../../core/output/xlsx.ts');
  return (inner) => xlsxSink(inner, many);
}
