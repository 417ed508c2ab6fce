import type { Fields } from '../../catalog/fields/kind.ts';
import { readFieldSelection } from '../../catalog/fieldselection.ts';
import { MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { usageFailure } from '../../core/failure.ts';
import type { Zones } from '../../core/names/zones.ts';
import { type Column, columnsOf, selectedNames } from '../../core/output/columns.ts';
import { FORMATS, type OutputKind } from '../../core/output/formats.ts';
import type { LocalClock } from '../../core/output/localclock.ts';
import type { Row } from '../../core/pages/page.ts';
import { RowOrder } from '../../core/sorting/roworder.ts';
import { checkFieldNames } from '../flags/fieldnames.ts';
import { type Destination, namedFormat, readDestination } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag, wholeNumber } from '../flags/values.ts';
import { readSort, type SortPlan } from './sort.ts';

/** Records shown on a terminal unless flags say otherwise (contract §2). */
export const TERMINAL_LIMIT = 100;

/** What the flags say about the rows of an output. */
export interface RowPlan extends Destination {
  readonly columns: readonly Column[];
  /** Names of `--fields`, in their order. */
  readonly selection: readonly string[] | undefined;
  /** Fields to request; all where undefined. */
  readonly fields: readonly string[] | undefined;
  /** Maximum records to read; all where they are sorted, since a limit applies after that. */
  readonly limit: number | undefined;
  /** The limit is the one for terminals, not that of a flag. */
  readonly isDefaultLimit: boolean;
  readonly pageSize: number;
  readonly sort: SortPlan | undefined;
  /** What is done to each record before it is written, besides `selection`; nothing where absent. */
  readonly shape?: (record: Row) => Row;
  /** The clock of a record's times; that of the command line where absent. */
  readonly clockOf?: (record: Row) => LocalClock;
  /** Which zones those clocks are in. */
  readonly zones?: Zones;
}

/** Reads and checks every flag about rows. Throws a Refusal or a Failure (exit 2). */
export function planRows(
  flags: FlagValues,
  fields: Fields,
  tableColumns: readonly string[],
  isTTY: boolean,
  kind: OutputKind = 'rows',
): RowPlan {
  const destination = readDestination(flags, isTTY, 'csv', kind);
  const { format, toTerminal } = destination;
  const { isForPeople = false } = FORMATS[format];
  const { limit, isDefaultLimit } = readRowLimit(flags, destination);
  const selection = readSelection(flags, fields);
  const keys = readSort(flags, fields);
  const shown = selection ?? (isForPeople ? tableColumns : undefined);
  const requested = shown && [...shown, ...(keys ?? []).map(({ column }) => column.name)];
  const isShort = toTerminal && keys === undefined;
  return {
    ...destination,
    columns: columnsOf(fields, shown),
    selection,
    fields: readFieldSelection(requested?.join(','), fields, '--fields'),
    limit: keys === undefined ? limit : undefined,
    isDefaultLimit,
    pageSize: wholeNumber(flags, 'page-size', 1, MAX_PAGE_SIZE) ?? (isShort ? TERMINAL_LIMIT : MAX_PAGE_SIZE),
    sort: keys && { order: new RowOrder(keys), limit },
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

/** Maximum records to show; all where undefined. */
export function shownLimit({ sort, limit }: RowPlan): number | undefined {
  return sort === undefined ? limit : sort.limit;
}

/** Maximum rows by the flags: a terminal gets a table of 100 where they leave format and number open. */
export function readRowLimit(
  flags: FlagValues,
  { format, toTerminal }: Destination,
): Pick<RowPlan, 'limit' | 'isDefaultLimit'> {
  const given = readLimit(flags);
  const isOpen = given === undefined && !isOn(flags, 'all') && namedFormat(flags) === undefined;
  const isDefaultLimit = toTerminal && isOpen && FORMATS[format].isForPeople === true;
  return { limit: isDefaultLimit ? TERMINAL_LIMIT : given, isDefaultLimit };
}

function readLimit(flags: FlagValues): number | undefined {
  const limit = wholeNumber(flags, 'limit', 1, Number.MAX_SAFE_INTEGER);
  if (limit !== undefined && isOn(flags, 'all')) {
    throw usageFailure('--limit and --all contradict each other; give one.', { source: '--all' });
  }
  return limit;
}
