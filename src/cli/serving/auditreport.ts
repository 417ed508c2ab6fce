import { EXIT } from '../../catalog/failures.ts';
import { isDate, parseInstant } from '../../catalog/fields/times.ts';
import { Failure, usageFailure } from '../../core/failure.ts';
import type { Column } from '../../core/output/columns.ts';
import { FORMATS, type Format, formatsFor } from '../../core/output/formats.ts';
import { LocalClock } from '../../core/output/localclock.ts';
import { PLAIN } from '../../core/output/style.ts';
import type { Row } from '../../core/pages/page.ts';

/** What the server found on going through its audit log. */
interface ChainReport {
  readonly entries: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly head: string;
  readonly problems: readonly { readonly id: number; readonly problem: string }[];
}

/** The report on an audit log that nobody touched. */
export function auditReportText({ entries, first, last, head }: ChainReport): string {
  const which = entries === 0 ? 'The audit log has no entries.' : `${entries} entries, ${first} to ${last}: unchanged.`;
  return `${which}\nEnd: ${head}\n`;
}

/** Exit 9: what is on disk is not what was written. */
export function auditDamage({ problems, entries }: ChainReport): Failure {
  return new Failure(`The audit log was changed: ${problems.length} of ${entries} entries do not fit.`, {
    code: 'local.file',
    exitCode: EXIT.file,
    items: problems.map(({ id, problem }) => ({
      code: 'audit.changed',
      source: `entry ${id}`,
      description: `${problem}.`,
    })),
    hint: 'Keep the data as it is, compare it with a backup, and find out who could write to it.',
  });
}

/** `--expect`. Throws a usage failure (exit 2) for anything but an end as it is printed. */
export function readExpected(text: string | undefined): { id: number; hash: string } | undefined {
  if (text === undefined) return undefined;
  const [, id, hash = ''] = /^(\d{1,16}):([0-9a-f]{64})?$/.exec(text.trim()) ?? [];
  if (id !== undefined) return { id: Number(id), hash };
  throw usageFailure('--expect takes the end that an earlier run printed, ID:HASH.', { source: '--expect' });
}

/** `--from` and `--to` as UTC date-times. Throws a usage failure (exit 2) for what is no time. */
export function auditRange(from: string | undefined, to: string | undefined): { from?: string; to?: string } {
  return {
    ...(from !== undefined && { from: timeOf(from, '--from') }),
    ...(to !== undefined && { to: timeOf(to, '--to') }),
  };
}

function timeOf(text: string, flag: string): string {
  const instant = parseInstant(isDate(text) ? `${text}T00:00:00Z` : text, {});
  if (typeof instant === 'number') return new Date(Math.ceil(instant)).toISOString();
  const message = `${flag} must be a date, or a date-time with a zone such as 2026-11-01T08:00:00Z.`;
  throw usageFailure(message, { source: flag });
}

const COLUMNS: readonly Column[] = [
  'id',
  'at',
  'organization',
  'who',
  'address',
  'requestId',
  'operation',
  'ids',
  'count',
  'filterKeys',
  'hash',
].map((name) => ({ name, path: [name], isId: false }));

/** Records of one piece of text: what is printed at once. */
const PIECE = 500;

/** Formats that are written entry by entry. */
export const AUDIT_FORMATS = formatsFor('files').filter((format) => !FORMATS[format].isBuffered);

/** Entries in a streamed format: a piece of text for some hundreds of them. */
export async function* auditLines(entries: AsyncIterable<object>, format: Format): AsyncGenerator<string> {
  const { content, rows: open } = FORMATS[format];
  const formatter = await open?.({
    ...{ columns: COLUMNS, header: true, excel: false, escapeFormulas: true, written: 0 },
    ...{ width: undefined, style: PLAIN, clock: () => new LocalClock('UTC'), onHidden: () => undefined },
  });
  if (formatter === undefined) throw new Error(`${format} is not written row by row.`);
  const textOf = (rows: readonly Row[]) => formatter.rows(content === 'columns' ? rows.map(flat) : rows);
  yield formatter.begin();
  let rows: Row[] = [];
  for await (const entry of entries) {
    rows.push(entry as Row);
    if (rows.length < PIECE) continue;
    yield textOf(rows);
    rows = [];
  }
  yield textOf(rows) + formatter.end();
}

/** Lists as words of one cell. */
function flat(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? value.join(' ') : value]),
  );
}
