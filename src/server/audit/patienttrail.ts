import sql, { empty, join } from 'sql-template-tag';
import { ALL_PATIENTS, blockOf, patientsOfEntry } from '../store/patientindex.ts';
import type { Reader } from '../store/store.ts';
import { AUDIT_COLUMNS, type AuditRange, type AuditRow, readable } from './export.ts';
import { holdsId } from './idlist.ts';

/** Entries that are looked at together. */
const PAGE_SIZE = 500;

/**
 * The entries that tell of a patient's data, oldest first, page by page: those that name the patient, and those of the
 * organization or of none that held everything. An index finds them; the log itself is never read through. Rows behind
 * the end of the log are none.
 */
export async function* patientPages(
  read: Reader,
  patient: number,
  { org, from, to }: Omit<AuditRange, 'after'>,
): AsyncGenerator<readonly AuditRow[]> {
  const buckets = join([patient, blockOf(patient), ALL_PATIENTS]);
  const only = org === undefined ? empty : sql` AND org IN (${org}, 0)`;
  const candidates = await read.all<{ entry: number }>(
    sql`SELECT DISTINCT entry FROM audit_patients WHERE bucket IN (${buckets})${only} ORDER BY entry`,
  );
  for (let at = 0; at < candidates.length; at += PAGE_SIZE) {
    const entries = join(candidates.slice(at, at + PAGE_SIZE).map(({ entry }) => entry));
    const rows = await read.all<AuditRow>(
      sql`SELECT ${AUDIT_COLUMNS} FROM audit_entries WHERE id IN (${entries})
        AND id <= (SELECT last_id FROM log_heads WHERE name = 'audit') ORDER BY id`,
    );
    const told = rows.filter(
      (row) =>
        (row.covers_all !== null || readable(row.id, () => holdsId(patientsOfEntry(row), patient))) &&
        (from === undefined || row.at >= from) &&
        (to === undefined || row.at < to),
    );
    if (told.length > 0) yield told;
  }
}
