import type { Column } from '../../core/output/columns.ts';
import { FORMATS, type Format, formatsFor } from '../../core/output/formats.ts';
import { LocalClock } from '../../core/output/localclock.ts';
import { PLAIN } from '../../core/output/style.ts';
import type { Row } from '../../core/pages/page.ts';
import { flagGroup } from '../flags/declare.ts';
import { textFlag } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { rangeFlags, rangeOf } from './auditrange.ts';
import { type DataFolder, dataFlags, ServerCommand } from './servercommand.ts';

const { text } = flagGroup();

/** Formats that are written entry by entry. */
const AUDIT_FORMATS = formatsFor('files').filter((format) => !FORMATS[format].isBuffered);

/** `molar server audit export`: prints the entries of a time, an organization, or all. */
export abstract class AuditExportCommand extends ServerCommand {
  static override flags = {
    ...dataFlags,
    ...rangeFlags,
    format: text(undefined, 'ndjson when not given', { options: AUDIT_FORMATS }),
  };

  protected override async work(folder: DataFolder, { flags }: CommandInput): Promise<string> {
    const [{ auditPages, exportEntries }, { writeCommand }] = await Promise.all([
      import('../../server/audit/export.ts'),
      import('../../server/audit/commands.ts'),
    ]);
    const { service } = folder;
    const { read } = service.store;
    const range = await rangeOf(folder, flags);
    await writeCommand(service, {
      operation: 'audit.export',
      org: range.org ?? null,
      all: range.from === undefined && range.to === undefined,
    });
    const entries = exportEntries(read, auditPages(read, range));
    const format = (textFlag(flags, 'format') ?? 'ndjson') as Format;
    for await (const text of auditLines(entries, format)) if (text !== '') await this.print(text);
    return '';
  }
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
  'patients',
  'count',
  'filterKeys',
  'hash',
  'via',
  'status',
  'client',
  'all',
].map((name) => ({ name, path: [name], isId: false }));

/** Entries that are printed at once. */
const BATCH = 500;

/** Entries in a streamed format, a batch at a time. */
export async function* auditLines(entries: AsyncIterable<object>, format: Format): AsyncGenerator<string> {
  const { content, rows: open } = FORMATS[format];
  const clock = () => new LocalClock('UTC');
  const formatter = await open?.({
    ...{ columns: COLUMNS, header: true, excel: false, escapeFormulas: true, written: 0 },
    ...{ width: undefined, style: PLAIN, clock, clockOf: clock, onHidden: () => undefined },
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

/** A member of a list as one word: a range of ids is `first-last`. */
function wordOf(member: unknown): string {
  return Array.isArray(member) ? member.join('-') : String(member);
}

/** The entry with its lists as words of one cell. */
function flat(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? value.map(wordOf).join(' ') : value]),
  );
}
