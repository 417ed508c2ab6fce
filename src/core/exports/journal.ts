import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { moveFile, removeFile, writeDurably } from '../../filesystem/durable.ts';
import { replacePrivate } from '../../filesystem/private.ts';
import { jsonOf } from '../jsontext.ts';
import { guarded } from '../output/atomicfile.ts';
import type { Format } from '../output/formats.ts';
import { readOwnFile } from '../output/ownfile.ts';

/** How far an export got. Ids are exact texts, `0` and null before the first record. */
export interface Progress {
  /** Records written. */
  readonly rows: number;
  /** Records received, including duplicates of an earlier run, which are not written. */
  readonly fetched: number;
  readonly pages: number;
  /** Of the records written. */
  readonly firstId: string | null;
  readonly writtenId: string | null;
  /** Of the records received: where reading resumes. */
  readonly lastId: string;
}

/** What it took, over all runs of the export. */
export interface Effort {
  readonly retries: number;
  readonly throttledMilliseconds: number;
  /** Times it was resumed. */
  readonly resumed: number;
}

/** How much of a part counts; what is behind it is cut off. */
export interface PartMark {
  readonly bytes: number;
  /** Of these bytes, in hexadecimal. */
  readonly sha256: string;
}

/** `FILE.part.json`: what `FILE.part` holds, for `--resume` (contract §5). */
export interface Journal extends ExportIdentity, Progress, Effort, PartMark {
  readonly version: 1;
  /** The filter sent with every page, including the bound of a bookmark. */
  readonly sentFilter: string | null;
  /** A hash of the columns: those of all fields may change with molar itself. */
  readonly columns: string;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly startedAt: string;
  /** The earliest time at which the first page can have been read, by our clock and the server's; null before that. */
  readonly readFrom: string | null;
  readonly warnings: readonly Warning[];
}

/** Path of the journal of a part. */
export function journalPath(part: string): string {
  return `${part}.json`;
}

/** Replaces the journal as a unit, safely on the disk; throws a Failure with exit code 9. */
export async function writeJournal(part: string, journal: Journal): Promise<void> {
  const path = journalPath(part);
  const next = nextPath(part);
  await guarded(`write ${path}`, async () => {
    try {
      await writeDurably(await replacePrivate(next), `${JSON.stringify(journal)}\n`);
      await moveFile(next, path);
    } catch (cause) {
      await removeFile(next).catch(() => undefined);
      throw cause;
    }
  });
}

/** The journal of a part: undefined where there is none, null for one that no molar of this user, or of this version, left. */
export async function readJournal(part: string): Promise<Journal | null | undefined> {
  const path = journalPath(part);
  const text = await guarded(`read ${path}`, () => readOwnFile(path));
  if (typeof text !== 'string') return text;
  const journal = jsonOf(text);
  return isJournal(journal) ? journal : null;
}

/** Throws a Failure with exit code 9. */
export async function removeJournal(part: string): Promise<void> {
  await guarded(`remove ${journalPath(part)}`, async () => {
    await removeFile(journalPath(part));
    await removeFile(nextPath(part));
  });
}

function nextPath(part: string): string {
  return `${journalPath(part)}.new`;
}

const NUMBERS = ['rows', 'fetched', 'pages', 'bytes', 'retries', 'throttledMilliseconds', 'resumed'];
const TEXTS = ['url', 'organization', 'resource', 'format', 'columns', 'startedAt', 'sha256', 'lastId'];

function isJournal(value: unknown): value is Journal {
  return (
    isPlainObject(value) &&
    value.version === 1 &&
    Object.keys(NAMES).every((name) => value[name] !== undefined) &&
    NUMBERS.every((name) => Number.isSafeInteger(value[name]) && Number(value[name]) >= 0) &&
    TEXTS.every((name) => typeof value[name] === 'string') &&
    /^\d{1,31}$/.test(String(value.lastId)) &&
    [value.sentFilter, value.readFrom, value.firstId, value.writtenId].every(isTextOrNull) &&
    !Number.isNaN(Date.parse(String(value.startedAt))) &&
    (value.readFrom === null || !Number.isNaN(Date.parse(String(value.readFrom)))) &&
    Array.isArray(value.warnings) &&
    value.warnings.every(isPlainObject)
  );
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

/** What has to be the same for one run to resume another: where from, what of it, and in which format. */
export interface ExportIdentity {
  readonly url: string;
  readonly organization: string;
  /** The resource by its segment of the path: `patients`. */
  readonly resource: string;
  /** As the user gave it; null for none. */
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
  fields: 'the selection of fields',
  format: 'the format',
  header: 'the line of column names',
  excel: '--excel',
  escapeFormulas: 'the escaping of formulas',
  limit: '--limit',
  sinceLast: '--since-last',
};

/** How two runs differ, in words: `the filter was "a==1" and is now none`. Empty where one may resume the other. */
export function differences(before: ExportIdentity, now: ExportIdentity): string[] {
  return (Object.keys(NAMES) as (keyof ExportIdentity)[])
    .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]))
    .map((key) => `${NAMES[key]} was ${shown(before[key])} and is now ${shown(now[key])}`);
}

function shown(value: ExportIdentity[keyof ExportIdentity]): string {
  if (value === true) return 'on';
  if (value === false) return 'off';
  return String(value ?? 'none');
}
