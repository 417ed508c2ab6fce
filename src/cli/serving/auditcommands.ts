import { EXIT } from '../../catalog/failures.ts';
import { isDate, parseInstant } from '../../catalog/fields/times.ts';
import { Failure, usageFailure } from '../../core/failure.ts';
import type { Column } from '../../core/output/columns.ts';
import { csvFormatter } from '../../core/output/csv.ts';
import type { Row } from '../../core/pages/page.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { type DataFolder, dataFlags, ServerCommand } from './servercommand.ts';

const { text, toggle } = flagGroup();

type ChainReport = import('../../server/audit/chain.ts').ChainReport;

/** `molar server audit verify`: fails with exit 9 for a log that was changed. */
export abstract class AuditVerifyCommand extends ServerCommand {
  static override flags = {
    ...dataFlags,
    expect: text('ID:HASH', 'An end that was printed earlier and must still be there'),
    json: toggle('Print one JSON object'),
  };

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const { verifyChain } = await import('../../server/audit/chain.ts');
    const report = await verifyChain(service.store.read, readExpected(textFlag(flags, 'expect')));
    if (report.problems.length > 0) throw chainFailure(report);
    if (isOn(flags, 'json')) return `${JSON.stringify(report)}\n`;
    const { entries, first, last, head } = report;
    const which =
      entries === 0 ? 'The audit log has no entries.' : `${entries} entries, ${first} to ${last}: unchanged.`;
    return `${which}\nEnd: ${head}\n`;
  }
}

/** `molar server audit export`: prints the entries of a time, an organization, or all. */
export abstract class AuditExportCommand extends ServerCommand {
  static override flags = {
    ...dataFlags,
    from: text('TIME', 'First entry: a date (UTC) or a date-time with a zone'),
    to: text('TIME', 'Entries before this: a date (UTC) or a date-time with a zone'),
    for: text('ORGANIZATION', 'Entries of this organization alone'),
    format: text(undefined, 'ndjson when not given', { options: ['ndjson', 'csv'] }),
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
    for await (const text of entryTexts(entries, textFlag(flags, 'format') === 'csv')) await this.print(text);
    return '';
  }
}

function chainFailure({ problems, entries }: ChainReport): Failure {
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
function readExpected(text: string | undefined): { id: number; hash: string } | undefined {
  if (text === undefined) return undefined;
  const [, id, hash = ''] = /^(\d{1,16}):([0-9a-f]{64})?$/.exec(text.trim()) ?? [];
  if (id !== undefined) return { id: Number(id), hash };
  throw usageFailure('--expect takes the end that an earlier run printed, ID:HASH.', { source: '--expect' });
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

/** Entries as NDJSON or CSV, a batch at a time. */
async function* entryTexts(entries: AsyncIterable<object>, isCsv: boolean): AsyncGenerator<string> {
  const csv = csvFormatter(COLUMNS, { header: true, excel: false, escapeFormulas: true });
  const textOf = (rows: readonly Row[]) =>
    isCsv ? csv.rows(rows.map(flat)) : rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  if (isCsv) yield csv.begin();
  let rows: Row[] = [];
  for await (const entry of entries) {
    rows.push(entry as Row);
    if (rows.length < BATCH) continue;
    yield textOf(rows);
    rows = [];
  }
  if (rows.length > 0) yield textOf(rows);
}

/** The entry with its lists as words of one cell. */
function flat(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? value.join(' ') : value]),
  );
}
