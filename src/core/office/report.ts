import type { LocalClock } from '../output/localclock.ts';

/** Everything that the statement of a report depends on, with nothing left relative. */
export interface Question {
  /** Today, `YYYY-MM-DD`. */
  readonly today: string;
  /** Now, UTC, as a mirror stores instants: `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly now: string;
  /** Ids of the locations that were asked for; null: all. */
  readonly locations: readonly string[] | null;
  /** Locations by their time zone; records of any other location, or of none, are in the zone of `otherwise`. */
  readonly zones: readonly { readonly clock: LocalClock; readonly locations: readonly string[] }[];
  readonly otherwise: LocalClock;
  /** The mirror keeps every version of a record. */
  readonly hasHistory: boolean;
}

/** A kind of value: money is integer cents, an instant UTC, a date `YYYY-MM-DD`, a duration minutes. */
export type OfficeKind = 'id' | 'text' | 'date' | 'instant' | 'cents' | 'count' | 'minutes' | 'boolean';

/** A column of a report. */
export interface OfficeColumn {
  /** Its name in CSV, such as `patient.firstName`; the statement calls it `patient_first_name`. */
  readonly name: string;
  readonly kind: OfficeKind;
}

/** A report that a mirror answers. `O`: what its flags say. */
export interface OfficeReport<O> {
  readonly name: string;
  /** One line, for lists of reports. */
  readonly description: string;
  /** What it counts and what it leaves out, in sentences for those who read its figures. */
  readonly definition: string;
  readonly columns: (options: O) => readonly OfficeColumn[];
  /**
   * The order of its rows, as keys of `--sort`; but here `location.id`, `operatory.id` and `provider.id` stand for the
   * order of the names file, then id. Ties are by `id`, else by `patient.id`.
   */
  readonly order: (options: O) => readonly string[];
  /** One statement with its values filled in; a column for each of `columns`, but the names of the names file. */
  readonly sql: (question: Question, options: O) => string;
}
