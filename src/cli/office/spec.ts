import type { FlagInput } from '@oclif/core/interfaces';
import { usageFailure } from '../../core/failure.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { OfficeReport } from '../../core/office/report.ts';
import { RowReader } from '../../core/office/rowreader.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, textFlags } from '../flags/values.ts';
import type { Asked, FilterValue } from './asked.ts';
import type { DayReader } from './days.ts';

/** Flags of one report. */
export const asking = flagGroup('REPORT');

/** A report as a command: what it is, its own flags, and what they ask for. */
export interface ReportSpec {
  readonly name: string;
  /** Above its table, page or workbook: `Call list`. */
  readonly title: string;
  /** What its rows are: `appointments`. */
  readonly many: string;
  readonly description: string;
  readonly definition: string;
  readonly flags: FlagInput;
  /** Throws a Failure (exit 2). */
  readonly ask: (flags: FlagValues, days: DayReader) => Asked;
}

/** What a command says of a report that a mirror answers. */
interface MirrorSpec<O> {
  readonly title: string;
  readonly many: string;
  readonly flags: FlagInput;
  /** Resources that its statement reads. */
  readonly resources: readonly string[];
  readonly read: (
    flags: FlagValues,
    days: DayReader,
  ) => { readonly options: O; readonly filters: Readonly<Record<string, FilterValue>> };
}

/** The command of a report that a mirror answers. */
export function mirrorReport<O>(
  report: OfficeReport<O>,
  { title, many, flags, resources, read }: MirrorSpec<O>,
): ReportSpec {
  const { name, description, definition } = report;
  return {
    ...{ name, title, many, description, definition, flags },
    ask: (given, days) => {
      const { options, filters } = read(given, days);
      const columns = report.columns(options);
      return {
        ...{ filters, columns, order: report.order(options), requests: () => [] },
        sql: (question) => report.sql(question, options),
        answer: async ({ mirror, setting }) => {
          const { hasHistory, rows } = await mirror(resources);
          const { names, values } = rows(report.sql({ ...setting.question, hasHistory }, options));
          const reader = new RowReader(columns, names, (kind, id) => setting.names.nameOf(kind, id));
          return { rows: values.map((each) => reader.read(each)), check: null };
        },
      };
    },
  };
}

/**
 * The words of a flag such as `--status A,B`, in any letter case, as `known` spells them; undefined where it is not given.
 * Throws a Failure (exit 2).
 */
export function readWords(flags: FlagValues, name: string, known: readonly string[]): readonly string[] | undefined {
  const texts = textFlags(flags, name).flatMap((text) => text.split(','));
  if (texts.length === 0) return undefined;
  const words = texts.map((text) => {
    const typed = text.trim();
    const word = known.find((each) => each.toLowerCase() === typed.toLowerCase());
    if (word !== undefined) return word;
    const what = `--${name} takes ${known.join(', ')}`;
    throw usageFailure(`${what}; not ${JSON.stringify(typed)}.${didYouMean(typed.toUpperCase(), known)}`, {
      source: `--${name}`,
    });
  });
  return [...new Set(words)];
}
