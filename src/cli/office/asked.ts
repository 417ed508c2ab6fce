import type { Names } from '../../core/names/namesfile.ts';
import type { Zones } from '../../core/names/zones.ts';
import type { OfficeColumn, Question } from '../../core/office/report.ts';
import type { OfficeCheck, OfficeRow, Picture } from '../../core/office/result.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { FlagValues } from '../flags/values.ts';
import type { MirrorReader } from './mirror.ts';

/** What every report knows of its command line. */
export interface Setting {
  readonly flags: FlagValues;
  readonly names: Names;
  readonly zones: Zones;
  readonly question: Question;
  /** The zone of `--timezone` or `--utc`. */
  readonly timezone: string | undefined;
}

/** How a report gets at what it is made of. */
export interface Access {
  readonly setting: Setting;
  readonly signal: AbortSignal;
  /** The mirror, young enough, or synced whatever its age; with these resources complete. */
  readonly mirror: (resources: readonly string[], isRenewed?: boolean) => Promise<MirrorReader>;
  readonly client: () => Promise<ApiClient>;
  readonly note: (text: string) => Promise<void>;
}

/** The rows of a report, in no order, with ids and names. */
export interface Answer {
  readonly rows: readonly OfficeRow[];
  readonly check: OfficeCheck | null;
}

/** A report with its flags read. */
export interface Asked {
  /** By flag, in camelCase, dates resolved. */
  readonly filters: Readonly<Record<string, FilterValue>>;
  readonly columns: readonly OfficeColumn[];
  /** What the rows are, where that depends on the flags: `providers`. */
  readonly many?: string;
  /** As keys of `--sort`. */
  readonly order: readonly string[];
  /** The statement on a mirror, where one answers it. */
  readonly sql?: (question: Question) => string;
  /** Requests of the API that answer it, for `--explain`. */
  readonly requests: (setting: Setting) => readonly string[];
  readonly answer: (access: Access) => Promise<Answer>;
  /** Answers by location, where rows do not say at which they are. */
  readonly answerByLocation?: (access: Access) => Promise<ReadonlyMap<string, Answer>>;
  readonly picture?: (rows: readonly OfficeRow[]) => Picture;
}

/** A value of `filters`. */
export type FilterValue = string | number | boolean | readonly string[] | null;
