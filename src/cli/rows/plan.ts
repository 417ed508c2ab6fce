import { readFieldSelection } from '../../catalog/fieldselection.ts';
import { MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import type { Fields } from '../../catalog/record.ts';
import { usageFailure } from '../../core/failure.ts';
import { type Column, columnsOf, selectedNames } from '../../core/output/columns.ts';
import type { Format } from '../../core/output/format.ts';
import { RowOrder } from '../../core/sorting/roworder.ts';
import { checkFieldNames } from '../flags/fieldnames.ts';
import { checkDestination, checkFormatFlags, chosenFormat, namedFormat } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag, wholeNumber } from '../flags/values.ts';
import { readSort, type SortPlan } from './sort.ts';

/** Records shown on a terminal when nothing else is asked for (contract §2). */
export const TERMINAL_LIMIT = 100;

/** What the flags say about the rows of an output. */
export interface RowPlan {
  readonly format: Format;
  readonly columns: readonly Column[];
  /** Names the user selected, in their order. */
  readonly selection: readonly string[] | undefined;
  /** Fields to ask the server for; all where absent. */
  readonly fields: readonly string[] | undefined;
  /** Records to read at most; all where they are sorted, since a limit counts after that. */
  readonly limit: number | undefined;
  /** The limit is the one for terminals, not one that was asked for. */
  readonly isDefaultLimit: boolean;
  readonly pageSize: number;
  readonly sort: SortPlan | undefined;
  readonly out: string | undefined;
  readonly toTerminal: boolean;
}

/**
 * Reads and checks every flag about rows. `documents` names the formats besides the usual ones. Throws a Refusal or a
 * Failure (exit 2).
 */
export function planRows(
  flags: FlagValues,
  fields: Fields,
  tableColumns: readonly string[],
  isTTY: boolean,
  documents: readonly Format[] = ['xlsx'],
): RowPlan {
  const out = textFlag(flags, 'out');
  if (out === '') throw usageFailure('--out must name a file.', { source: '--out' });
  const toTerminal = isTTY && out === undefined;
  const format = chosenFormat(flags, toTerminal, 'csv');
  checkFormatFlags(flags, format, documents);
  checkDestination(format, toTerminal);
  const selection = readSelection(flags, fields);
  const keys = readSort(flags, fields);
  const shown = selection ?? (format === 'table' ? tableColumns : undefined);
  const asked = shown && [...shown, ...(keys ?? []).map(({ column }) => column.name)];
  const given = readLimit(flags);
  const isDefaultLimit =
    toTerminal && given === undefined && !isOn(flags, 'all') && namedFormat(flags) === undefined && format === 'table';
  const limit = isDefaultLimit ? TERMINAL_LIMIT : given;
  const isShort = toTerminal && keys === undefined;
  return {
    format,
    columns: columnsOf(fields, shown),
    selection,
    fields: readFieldSelection(asked?.join(','), fields, '--fields'),
    limit: keys === undefined ? limit : undefined,
    isDefaultLimit,
    pageSize: wholeNumber(flags, 'page-size', 1, MAX_PAGE_SIZE) ?? (isShort ? TERMINAL_LIMIT : MAX_PAGE_SIZE),
    sort: keys && { order: new RowOrder(keys), limit },
    out,
    toTerminal,
  };
}

/** The names of `--fields`, checked; undefined for all. */
export function readSelection(flags: FlagValues, fields: Fields): string[] | undefined {
  const text = textFlag(flags, 'fields');
  if (text === undefined) return undefined;
  checkFieldNames(text, fields, '--fields');
  if (text.replaceAll(',', '').trim() === '') throw usageFailure('--fields must name fields.', { source: '--fields' });
  return selectedNames(text);
}

/** Records to show at most. */
export function shownLimit({ sort, limit }: RowPlan): number | undefined {
  return sort === undefined ? limit : sort.limit;
}

function readLimit(flags: FlagValues): number | undefined {
  const limit = wholeNumber(flags, 'limit', 1, Number.MAX_SAFE_INTEGER);
  if (limit !== undefined && isOn(flags, 'all')) {
    throw usageFailure('--limit and --all contradict each other; give one.', { source: '--all' });
  }
  return limit;
}
