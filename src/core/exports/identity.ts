import type { Format } from '../output/formats.ts';

/** What has to be the same for one run to go on where another stopped: where from, what of it, and in which form. */
export interface ExportIdentity {
  readonly url: string;
  readonly organization: string;
  /** The resource by its segment of the path: `patients`. */
  readonly resource: string;
  /** As the user asked; null for none. */
  readonly filter: string | null;
  /** The selection in its order, null for all. */
  readonly fields: readonly string[] | null;
  readonly format: Format;
  readonly header: boolean;
  readonly excel: boolean;
  readonly escapeFormulas: boolean;
  readonly limit: number | null;
  /** The bookmark the run starts from, null for none. */
  readonly sinceLast: string | null;
}

const NAMES: Readonly<Record<keyof ExportIdentity, string>> = {
  url: 'the URL',
  organization: 'the organization',
  resource: 'the resource',
  filter: 'the filter',
  fields: 'the choice of fields',
  format: 'the format',
  header: 'the line of column names',
  excel: '--excel',
  escapeFormulas: 'the escaping of formulas',
  limit: '--limit',
  sinceLast: '--since-last',
};

/** How two runs differ, in words: `the filter was "a==1" and is now none`. Empty where one may go on with the other. */
export function differences(before: ExportIdentity, now: ExportIdentity): string[] {
  return (Object.keys(NAMES) as (keyof ExportIdentity)[])
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]))
    .map((key) => `${NAMES[key]} was ${shown(before[key])} and is now ${shown(now[key])}`);
}

function shown(value: ExportIdentity[keyof ExportIdentity]): string {
  if (value === null || value === undefined) return 'none';
  if (value === true) return 'on';
  if (value === false) return 'off';
  return typeof value === 'object' ? value.join(',') : String(value);
}
