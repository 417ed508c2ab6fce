import { resolveDate } from '../../core/dates/relativedate.ts';
import { usageFailure } from '../../core/failure.ts';
import { daysFrom } from '../../core/reports/production.ts';
import { type FlagValues, textFlags, wholeNumber } from '../flags/values.ts';

/** Days of a report at most. */
const MAX_DAYS = 366;

/** Days from one to another, both `YYYY-MM-DD` and both among them. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Reads the dates of a report's flags. */
export class DayReader {
  constructor(
    private readonly flags: FlagValues,
    /** `YYYY-MM-DD`. */
    readonly today: string,
  ) {}

  /** The day of a flag, `otherwise` where it is not given. Throws a Failure (exit 2). */
  day(name: string, otherwise: string): string {
    return this.given(name) ?? resolveDate(otherwise, this.today, `--${name}`).date;
  }

  /** The day of a flag; undefined where it is not given. */
  given(name: string): string | undefined {
    const [text, another] = textFlags(this.flags, name);
    if (another !== undefined) throw usageFailure(`--${name} takes one date.`, { source: `--${name}` });
    if (text === undefined) return undefined;
    return resolveDate(text, this.today, `--${name}`).date;
  }

  /** `--date D --days N`, or `--from D --days N`. */
  span(name: string, otherwise: string, usual: number): DayRange & { readonly days: number } {
    const from = this.day(name, otherwise);
    const days = wholeNumber(this.flags, 'days', 1, MAX_DAYS) ?? usual;
    return { from, to: daysFrom(from, days).at(-1) ?? from, days };
  }

  /** `--from D --to D`. Throws a Failure (exit 2) when they are the wrong way round. */
  range(from: string, to = 'today'): DayRange {
    const range = { from: this.day('from', from), to: this.day('to', to) };
    if (range.from <= range.to) return range;
    throw usageFailure(`--from ${range.from} is after --to ${range.to}.`, { source: '--from' });
  }
}
