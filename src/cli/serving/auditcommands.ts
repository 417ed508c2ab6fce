import { isDate, parseInstant } from '../../catalog/fields/times.ts';
import { usageFailure } from '../../core/failure.ts';
import type { Column } from '../../core/output/columns.ts';
import { FORMATS, type Format, formatsFor } from '../../core/output/formats.ts';
import { LocalClock } from '../../core/output/localclock.ts';
import { PLAIN } from '../../core/output/style.ts';
import type { Row } from '../../core/pages/page.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { type DataFolder, dataFlags, ServerCommand } from './servercommand.ts';

const { text } = flagGroup();

/** Formats that are written entry by entry. */
const AUDIT_FORMATS = formatsFor('files').filter((format) => !FORMATS[format].isBuffered);

/** `molar server audit export`: prints the entries of a time, an organization, or all. */
export abstract class AuditExportCommand extends ServerCommand {
  static override flags = {
    ...dataFlags,
    from: text('TIME', 'First entry: a date (UTC) or a date-time with a zone'),
    to: text('TIME', 'Entries before this: a date (UTC) or a date-time with a zone'),
    for: text('ORGANIZATION', 'Entries of this organization alone'),
    format: text(undefined, 'ndjson when not given', { options: AUDIT_FORMATS }),
  };

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const { exportEntries, organizationKey } = await import('../../server/audit/export.ts');
    const { read } = service.store;
    const organization = textFlag(flags, 'for');
    const entries = exportEntries(read, {
      ...timeOf(flags, 'from'),
      ...timeOf(flags, 'to'),
      ...(organization !== undefined && { org: await organizationKey(read, organization) }),
    });
    const format = (textFlag(flags, 'format') ?? 'ndjson') as Format;
    for await (const text of auditLines(entries, format)) if (text !== '') await this.print(text);
    return '';
  }
}

/** A time flag as a UTC date-time; nothing where it was not given. Throws a usage failure (exit 2). */
function timeOf(flags: FlagValues, name: 'from' | 'to'): { from?: string; to?: string } {
  const text = textFlag(flags, name);
  if (text === undefined) return {};
  const instant = parseInstant(isDate(text) ? `${text}T00:00:00Z` : text, {});
  if (typeof instant === 'number') return { [name]: new Date(Math.ceil(instant)).toISOString() };
  const message = `--${name} must be a date, or a date-time with a zone such as 2026-11-01T08:00:00Z.`;
  throw usageFailure(message, { source: `--${name}` });
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

/** Entries that are printed at once. */
const BATCH = 500;

/** Entries in a streamed format, a batch at a time. */
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
    if (rows.length < BATCH) continue;
    yield textOf(rows);
    rows = [];
  }
  yield textOf(rows) + formatter.end();
}

/** The entry with its lists as words of one cell. */
function flat(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? value.join(' ') : value]),
  );
}
