import { withLocalTimes } from '../../core/office/localtimes.ts';
import { nestedRow } from '../../core/office/nested.ts';
import type { OfficeColumn } from '../../core/office/report.ts';
import { rowColumn } from '../../core/office/rowreader.ts';
import { FORMATS } from '../../core/output/formats.ts';
import { exactJson } from '../../core/output/json.ts';
import type { SortKey } from '../../core/sorting/roworder.ts';
import type { Context } from '../context.ts';
import { type Destination, readDestination } from '../flags/output.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { jsonDocument, writeReport } from '../reports/reportoutput.ts';
import { writerOptions } from '../rows/output.ts';
import { readRowLimit } from '../rows/plan.ts';
import { readFields, readKeys } from './columns.ts';
import type { Result } from './result.ts';

/** What the flags say about the output of a report. */
export interface OfficePlan extends Destination {
  /** Columns of `--fields`; all where undefined. */
  readonly fields: readonly OfficeColumn[] | undefined;
  readonly keys: readonly SortKey[] | undefined;
  readonly limit: number | undefined;
  /** The limit is the one for terminals, not that of a flag. */
  readonly isDefaultLimit: boolean;
}

/** Reads and checks every flag about the output. Throws a Failure (exit 2). */
export function planOffice(flags: FlagValues, columns: readonly OfficeColumn[], isTTY: boolean): OfficePlan {
  const destination = readDestination(flags, isTTY, 'csv', 'report');
  return {
    ...destination,
    ...readRowLimit(flags, destination),
    fields: readFields(flags, columns),
    keys: readKeys(flags, columns),
  };
}

/** How a result is written. */
export interface Writing {
  readonly plan: OfficePlan;
  readonly flags: FlagValues;
  readonly context: Context;
}

/** Writes a result. Returns the columns that the terminal was too narrow for. */
export async function writeOffice(result: Result, { plan, flags, context }: Writing): Promise<readonly string[]> {
  const chosen: Result = plan.fields === undefined ? result : { ...result, columns: plan.fields };
  const hidden: string[] = [];
  await writeReport(plan, context, () => textOf(chosen, { plan, flags, context }, hidden));
  return hidden;
}

type Text = string | Generator<string | Uint8Array>;

async function textOf(result: Result, { plan, flags, context }: Writing, hidden: string[]): Promise<Text> {
  const { format, toTerminal, fields } = plan;
  if (format === 'xlsx') return (await import('../../core/office/workbook.ts')).officeWorkbook(result);
  if (format === 'html') return (await import('../../core/office/html.ts')).officeHtml(result);
  const options = writerOptions(toTerminal, flags, context);
  if (format === 'table') {
    const { officeTable } = await import('../../core/office/table.ts');
    const table = officeTable(result, { ...options, many: result.many, isChosen: fields !== undefined });
    hidden.push(...table.hidden);
    return table.text;
  }
  const { columns, rows } = isOn(flags, 'local-times')
    ? withLocalTimes(result.columns, result.rows, result.clockOf)
    : result;
  const nested = () => rows.map((row) => nestedRow(row, columns));
  if (format === 'json') {
    const { report, resolved: filters, totals, check } = result;
    return jsonDocument({ report, filters, records: nested(), totals, check }, exactJson);
  }
  if (format === 'ndjson')
    return nested()
      .map((row) => `${exactJson(row)}\n`)
      .join('');
  const writer = await FORMATS[format].rows?.({
    ...options,
    ...{ columns: columns.map(rowColumn), written: 0, onHidden: () => undefined },
  });
  if (writer === undefined) throw new Error(`${format} is not written row by row.`);
  return writer.begin() + writer.rows(rows) + writer.end();
}
