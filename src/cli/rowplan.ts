import { Refusal } from '../catalog/failures.ts';
import { readFieldSelection, selectableNames } from '../catalog/fieldselection.ts';
import { MAX_PAGE_SIZE } from '../catalog/paging.ts';
import type { Fields } from '../catalog/record.ts';
import { usageFailure } from '../core/failure.ts';
import { type Column, columnsOf, selectedNames } from '../core/output/columns.ts';
import type { Format } from '../core/output/format.ts';
import type { SortOrder } from '../core/output/sort.ts';
import { wholeNumber } from './flags/numbers.ts';
import { checkDestination, checkFormatFlags, chosenFormat, namedFormat } from './flags/output.ts';
import { type FlagValues, isOn, textFlag } from './flagvalues.ts';
import { nearest } from './nearest.ts';

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
  readonly limit: number | undefined;
  /** The limit is the one for terminals, not one that was asked for. */
  readonly isDefaultLimit: boolean;
  readonly pageSize: number;
  readonly sort: SortOrder | undefined;
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
  const sort = readSort(flags, fields);
  const shown = selection ?? (format === 'table' ? tableColumns : undefined);
  const asked = shown === undefined || sort === undefined ? shown : [...shown, sort.column.name];
  const limit = readLimit(flags);
  const isDefaultLimit =
    toTerminal && limit === undefined && !isOn(flags, 'all') && namedFormat(flags) === undefined && format === 'table';
  return {
    format,
    columns: columnsOf(fields, shown),
    selection,
    fields: readFieldSelection(asked?.join(','), fields, '--fields'),
    limit: isDefaultLimit ? TERMINAL_LIMIT : limit,
    isDefaultLimit,
    pageSize: wholeNumber(flags, 'page-size', 1, MAX_PAGE_SIZE) ?? (toTerminal ? TERMINAL_LIMIT : MAX_PAGE_SIZE),
    sort,
    out,
    toTerminal,
  };
}

/** The names of `--fields`, checked; undefined for all. */
export function readSelection(flags: FlagValues, fields: Fields): string[] | undefined {
  const text = textFlag(flags, 'fields');
  if (text === undefined) return undefined;
  checkNames(text, fields, '--fields');
  if (text.replaceAll(',', '').trim() === '') throw usageFailure('--fields must name fields.', { source: '--fields' });
  return selectedNames(text);
}

function readSort(flags: FlagValues, fields: Fields): SortOrder | undefined {
  const text = textFlag(flags, 'sort')?.trim();
  if (text === undefined) return undefined;
  const descending = text.startsWith('-');
  const name = descending ? text.slice(1) : text;
  checkNames(name, fields, '--sort');
  const [column] = columnsOf(fields, [name]);
  if (name === '' || name === 'ALL' || name.includes(',') || column === undefined) {
    throw usageFailure('--sort takes one field.', { source: '--sort' });
  }
  return { column, descending };
}

function readLimit(flags: FlagValues): number | undefined {
  const limit = wholeNumber(flags, 'limit', 1, Number.MAX_SAFE_INTEGER);
  if (limit !== undefined && isOn(flags, 'all')) {
    throw usageFailure('--limit and --all contradict each other; give one.', { source: '--all' });
  }
  return limit;
}

/** Refuses unknown names, with the nearest known one. */
function checkNames(text: string, fields: Fields, source: string): void {
  try {
    readFieldSelection(text, fields, source);
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    throw new Refusal(
      cause.problems.map((problem) => {
        const near = nearest(problem.description.split(' ')[0] ?? '', selectableNames(fields));
        const suggestion = near === undefined ? '' : ` Did you mean ${near}?`;
        const known =
          source === '--sort' ? problem.description.replace('Fields: ALL, ', 'Fields: ') : problem.description;
        return { ...problem, description: `${known}${suggestion}` };
      }),
    );
  }
}
