import * as Flags from '@oclif/core/flags';
import { type Failure, usageFailure } from '../../core/failure.ts';
import { DOCUMENT_FORMATS, FORMATS, type Format, formatOfFile } from '../../core/output/format.ts';
import { type FlagValues, isOn, textFlag } from './values.ts';

const helpGroup = 'OUTPUT';

const ALL_FORMATS = [...FORMATS, ...DOCUMENT_FORMATS];

/** Every form is read, so that one the command does not have is refused with the reason; help shows those it has. */
function formatFlag(documents: readonly Format[]) {
  return Flags.string({
    helpGroup,
    helpValue: [...FORMATS, ...documents].join('|'),
    options: ALL_FORMATS,
    summary: `Form of the output${documents.includes('html') ? '; html is a page to print' : ''}`,
  });
}

/** Flags that choose form and place of the output, the same on every command but for the forms there are. */
export const outputFlags = {
  format: formatFlag(['xlsx']),
  json: Flags.boolean({ helpGroup, summary: 'Same as --format json; errors are JSON too' }),
  csv: Flags.boolean({ helpGroup, summary: 'Same as --format csv' }),
  out: Flags.string({
    helpGroup,
    helpValue: 'FILE',
    summary: 'Write to a file, which is replaced only when the output is whole',
  }),
  fields: Flags.string({
    helpGroup,
    helpValue: 'A,B',
    summary: 'Fields to show, such as id,lastName,preferredLocation.id',
  }),
  'no-header': Flags.boolean({ helpGroup, summary: 'Leave out the line of column names (table, csv)' }),
  excel: Flags.boolean({ helpGroup, summary: 'CSV for Excel: byte order mark and CRLF line ends' }),
  'no-escape-formulas': Flags.boolean({
    helpGroup,
    summary: 'CSV: keep text that a spreadsheet would run as a formula',
  }),
};

/** `--format` of commands on one record. */
export const recordFormat = { format: formatFlag([]) };

/** `--format` of the reports that are pages too. */
export const reportFormat = { format: formatFlag(DOCUMENT_FORMATS) };

export const rowFlags = {
  limit: Flags.string({ helpGroup, helpValue: 'N', summary: 'Stop after N records' }),
  all: Flags.boolean({ helpGroup, summary: 'Every record; the default unless a table goes to a terminal' }),
  'page-size': Flags.string({ helpGroup, helpValue: 'N', summary: 'Records to ask for at a time, 1 to 500' }),
  sort: Flags.string({
    helpGroup,
    helpValue: '[-]FIELD,…',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'Sort the whole result by fields, shown or not; - in front of one: descending',
  }),
};

/** The format the flags name, undefined when they leave it open. Throws a Failure (exit 2) when they disagree. */
export function namedFormat(flags: FlagValues): Format | undefined {
  const named: readonly (readonly [string, Format])[] = [
    ...(textFlag(flags, 'format') === undefined ? [] : [['--format', textFlag(flags, 'format') as Format] as const]),
    ...(isOn(flags, 'json') ? [['--json', 'json'] as const] : []),
    ...(isOn(flags, 'csv') ? [['--csv', 'csv'] as const] : []),
  ];
  const [first, ...others] = named;
  const other = others.find(([, format]) => format !== first?.[1]);
  if (first !== undefined && other !== undefined) {
    throw usageFailure(`${first[0]} and ${other[0]} name different formats; give one.`, { source: other[0] });
  }
  return first?.[1];
}

/**
 * The format of an output: what the flags name, else what the extension of `--out` says, else a table on a terminal
 * and `piped` elsewhere (contract §2).
 */
export function chosenFormat(flags: FlagValues, isTerminal: boolean, piped: Format): Format {
  const named = namedFormat(flags);
  if (named !== undefined) return named;
  if (isOn(flags, 'excel')) return 'csv';
  const out = textFlag(flags, 'out');
  if (out !== undefined) return formatOfFile(out) ?? piped;
  return isTerminal ? 'table' : piped;
}

/**
 * Refuses flags that ask for what the chosen format does not do, and a format that the command does not have:
 * `documents` names those it has besides the usual ones.
 */
export function checkFormatFlags(flags: FlagValues, format: Format, documents: readonly Format[] = []): void {
  checkFormat(format, documents);
  const only = (name: string, formats: readonly Format[]): Failure | undefined =>
    flags[name] !== undefined && flags[name] !== false && !formats.includes(format)
      ? usageFailure(`--${name} has no effect on ${format}; it goes with ${formats.join(' or ')}.`, {
          source: `--${name}`,
        })
      : undefined;
  const problem = only('excel', ['csv']);
  if (problem !== undefined) throw problem;
}

const WITHOUT: Readonly<Record<(typeof DOCUMENT_FORMATS)[number], string>> = {
  xlsx: 'xlsx is a form of lists and reports, not of a single record',
  html: 'html is a form of agingbalances report and locationproductionnetschedule report only',
};

function checkFormat(format: Format, documents: readonly Format[]): void {
  const missing = DOCUMENT_FORMATS.find((each) => each === format);
  if (missing === undefined || documents.includes(missing)) return;
  const others = ALL_FORMATS.filter((each) => (each === 'xlsx' || each === 'html' ? documents.includes(each) : true));
  throw usageFailure(`${WITHOUT[missing]}; this command has ${others.join(', ')}.`, { source: '--format' });
}

/** Refuses a spreadsheet on a terminal, which shows nothing of it. */
export function checkDestination(format: Format, toTerminal: boolean): void {
  if (format === 'xlsx' && toTerminal) {
    throw usageFailure('A spreadsheet cannot be shown on a terminal; name a file with --out FILE.xlsx.', {
      source: '--format',
    });
  }
}
