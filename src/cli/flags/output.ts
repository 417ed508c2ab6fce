import * as Flags from '@oclif/core/flags';
import { type Failure, usageFailure } from '../../core/failure.ts';
import {
  FORMATS,
  type Format,
  formatOfFile,
  formatsFor,
  formatsWhere,
  type OutputKind,
  TERMINAL_FORMAT,
} from '../../core/output/formats.ts';
import { type FlagValues, isOn, textFlag } from './values.ts';

const helpGroup = 'OUTPUT';

/** Every format is accepted, so that one the command does not have is refused with the reason; help shows those it has. */
function formatFlag(kind: OutputKind, summary = 'Output format') {
  return Flags.string({
    helpGroup,
    helpValue: formatsFor(kind).join('|'),
    options: Object.keys(FORMATS),
    summary,
  });
}

/** Formats that write columns, some of which neutralise formulas. */
const WITH_HEADER = formatsWhere(({ content, rows }) => content === 'columns' && rows !== undefined).join(', ');
const WITH_FORMULAS = formatsWhere(({ escapesFormulas }) => escapesFormulas === true);

/** Flags that choose format and destination of the output, the same on every command but for the formats there are. */
export const outputFlags = {
  format: formatFlag('rows'),
  json: Flags.boolean({ helpGroup, summary: 'Same as --format json; errors are JSON too' }),
  csv: Flags.boolean({ helpGroup, summary: 'Same as --format csv' }),
  out: Flags.string({
    helpGroup,
    helpValue: 'FILE',
    summary: 'Write to a file, which is replaced only when the output is complete',
  }),
  fields: Flags.string({
    helpGroup,
    helpValue: 'A,B',
    summary: 'Fields to show, such as id,lastName,preferredLocation.id',
  }),
  'no-header': Flags.boolean({ helpGroup, summary: `Leave out the line of column names (${WITH_HEADER})` }),
  excel: Flags.boolean({ helpGroup, summary: 'CSV for Excel: byte order mark and CRLF line ends' }),
  'no-escape-formulas': Flags.boolean({
    helpGroup,
    summary: `Leave text as it is that a spreadsheet would run as a formula (${WITH_FORMULAS.join(', ')})`,
  }),
};

/** `--format` of commands on one record. */
export const recordFormat = { format: formatFlag('record') };

/** `--format` of the reports that are pages too. */
export const reportFormat = { format: formatFlag('report', 'Output format; html is a page to print') };

/** `--format` of an export into a folder, csv when not given. */
export const fileFormat = { format: formatFlag('files', 'Format of the files, csv when not given') };

/** `--format` of an export of a mirror. */
export const mirrorFormat = { format: formatFlag('mirror', 'Format of the files, csv when not given') };

/** Flags that choose rows. */
export const rowFlags = {
  limit: Flags.string({ helpGroup, helpValue: 'N', summary: 'Stop after N records' }),
  all: Flags.boolean({ helpGroup, summary: 'Every record; the default unless a table goes to a terminal' }),
  'page-size': Flags.string({ helpGroup, helpValue: 'N', summary: 'Records to request at a time, 1 to 500' }),
  sort: Flags.string({
    helpGroup,
    helpValue: '[-]FIELD,…',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'Sort the complete result by fields, shown or not; - before a field: descending',
  }),
};

/** `--local-times` of lists. */
export const localTimesFlag = {
  'local-times': Flags.boolean({
    helpGroup,
    summary: 'Also write the local time of each instant, in FIELDLocal after FIELD (csv, tsv, json, ndjson)',
  }),
};

/** The format the flags name, undefined when they leave it open. Throws a Failure (exit 2) when they disagree. */
export function namedFormat(flags: FlagValues): Format | undefined {
  const format = textFlag(flags, 'format') as Format | undefined;
  const named = [
    ...(format === undefined ? [] : [['--format', format] as const]),
    ...(['json', 'csv'] as const).filter((name) => isOn(flags, name)).map((name) => [`--${name}`, name] as const),
  ];
  const [first, ...others] = named;
  const other = others.find(([, each]) => each !== first?.[1]);
  if (first !== undefined && other !== undefined) {
    throw usageFailure(`${first[0]} and ${other[0]} name different formats; give one.`, { source: other[0] });
  }
  return first?.[1];
}

/** Where output goes, and in which format. */
export interface Destination {
  readonly format: Format;
  readonly out: string | undefined;
  readonly toTerminal: boolean;
}

/**
 * Reads and checks the flags about format and destination: the format that they name, else that of the extension of
 * `--out`, else a table on a terminal and `piped` elsewhere (contract §2). Throws a Failure (exit 2) for a format that
 * this kind of output does not have, and for flags that have no effect on it.
 */
export function readDestination(flags: FlagValues, isTTY: boolean, piped: Format, kind: OutputKind): Destination {
  const out = textFlag(flags, 'out');
  if (out === '') throw usageFailure('--out must name a file.', { source: '--out' });
  if (out !== undefined && OLD_EXCEL.test(out)) throw oldExcel(out, kind);
  const toTerminal = isTTY && out === undefined;
  const format = namedFormat(flags) ?? impliedFormat(flags) ?? (toTerminal ? TERMINAL_FORMAT : piped);
  const { terminal, hasExcelForm, scope } = FORMATS[format];
  const available = formatsFor(kind);
  if (!available.includes(format)) {
    const what = scope === undefined ? 'is not a format of this command' : `is a format of ${scope}`;
    throw usageFailure(`${format} ${what}; it has ${available.join(', ')}.`, { source: '--format' });
  }
  if (isOn(flags, 'excel') && !hasExcelForm) {
    throw usageFailure(`--excel has no effect on ${format}; it goes with csv.`, { source: '--excel' });
  }
  if (toTerminal && terminal === 'refused') {
    throw usageFailure(`${format} cannot be shown on a terminal; name a file with --out FILE.${format}.`, {
      source: '--format',
    });
  }
  return { format, out, toTerminal };
}

const OLD_EXCEL = /\.xls$/i;

/** Excel warns of a file whose extension is another format's, and other programs do not open it. */
function oldExcel(out: string, kind: OutputKind): Failure {
  const extension = formatsFor(kind).includes('xlsx') ? 'xlsx' : 'csv';
  return usageFailure(
    `.xls is the format of Excel before 2007, which molar does not write; use --out ${out.replace(OLD_EXCEL, `.${extension}`)}.`,
    { source: '--out' },
  );
}

function impliedFormat(flags: FlagValues): Format | undefined {
  const out = textFlag(flags, 'out');
  return (out === undefined ? undefined : formatOfFile(out)) ?? (isOn(flags, 'excel') ? 'csv' : undefined);
}
