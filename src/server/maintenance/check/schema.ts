import sql from 'sql-template-tag';
import { type DatabaseSchema, PROGRAMS, type Program, readSchema } from '../../store/schema/introspection.ts';
import { readMolarVersion } from '../../store/schema/state.ts';
import { isAbove, molarVersion } from '../../version.ts';
import { STATE_TABLE } from '../copy/state.ts';
import type { CheckContext, CheckFindings } from './context.ts';

/** Compares the schema with that of this molar; false when other checks would not find what they read. */
export async function checkSchema(
  { read, dialect }: CheckContext,
  book: CheckFindings,
  own: DatabaseSchema,
): Promise<boolean> {
  const findings = book.of('schema');
  const report = (table: string | null, id: string | null, message: string) =>
    findings.report({ table, organization: null, id, message });
  const there = await readSchema(read, dialect);
  findings.counted(own.tables.length);
  if (dialect === 'sqlite') {
    for (const { type, name } of await read.all<Program>(PROGRAMS))
      report(null, name, `a ${type} that is not of molar`);
  }
  if (there.version === 0) {
    report(null, null, 'there are no tables of molar');
    return false;
  }
  if (there.version !== own.version) {
    const next = there.version < own.version ? 'molar serve brings it to this version' : 'it needs a newer molar';
    report(null, null, `is of version ${there.version}, not ${own.version}: ${next}`);
    return false;
  }
  if (there.fingerprint !== own.fingerprint) {
    const what = there.fingerprint === undefined ? 'is being brought to another version' : 'is of another molar';
    const version = await readMolarVersion(read);
    const isNewer = version !== undefined && isAbove(version, molarVersion());
    const next = isNewer ? `it needs a newer molar, ${version} at least` : 'molar serve brings it to this version';
    report(null, null, `${what}: ${next}`);
    return false;
  }
  if (there.tables.some((table) => table.name === STATE_TABLE)) {
    report(STATE_TABLE, null, 'a copy into it is not complete: run molar server migrate or restore again');
    return false;
  }
  const tables = new Map(there.tables.map((table) => [table.name, table]));
  let whole = true;
  for (const table of own.tables) {
    const found = tables.get(table.name);
    if (found === undefined) report(table.name, null, 'the table is missing');
    for (const column of found === undefined ? [] : table.columns) {
      if (found?.columns.includes(column)) continue;
      report(table.name, column, 'the column is missing');
      whole = false;
    }
    if (found === undefined) whole = false;
  }
  for (const index of own.indexes) {
    if (!there.indexes.includes(index)) report(null, index, 'the index is missing');
  }
  return whole;
}

/** What the engine itself says of its pages and indexes; SQLite stops after a hundred lines. */
export async function checkDatabase({ read, dialect }: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('database');
  findings.counted(1);
  const told =
    dialect === 'sqlite'
      ? await read.all<{ message: string }>(
          sql`SELECT integrity_check AS message FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
        )
      : await read.all<{ message: string }>(
          sql`SELECT 'index ' || c.relname || ' is not valid' AS message FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND NOT (i.indisvalid AND i.indisready) ORDER BY c.relname`,
        );
  for (const { message } of told) {
    for (const line of message.split('\n')) {
      findings.report({ table: null, organization: null, id: null, message: line });
    }
  }
}
