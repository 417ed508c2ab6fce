import sql, { raw } from 'sql-template-tag';
import { RESOURCES } from '../../catalog/catalog.ts';
import { domainTypeOf } from '../../catalog/stream/domains.ts';
import { type JsonRecord, tableOf } from '../store/layout.ts';
import { patientColumn, patientOf } from '../store/patientof.ts';
import type { Reader } from '../store/store.ts';

/** The record that a message tells of, and the patient whose data that is. */
export interface Whose {
  readonly recordId: number | null;
  readonly patientId: number | null;
}

/**
 * Whose data a message is that was stored before messages said so themselves: listeners go on to be sent it as long as
 * the stream keeps it, and the audit log names it (contract §8). An update tells what has changed alone: the rest is found
 * in the record, as long as there is one.
 */
export async function whoseOf(read: Reader, org: number, domainType: string, payload: string): Promise<Whose> {
  const record = JSON.parse(payload) as JsonRecord;
  const resource = RESOURCES.find((candidate) => domainTypeOf(candidate) === domainType);
  if (resource === undefined || typeof record.id !== 'number') return { recordId: null, patientId: null };
  const own = await patientOf(read, org, resource, record);
  if (own !== null || resource.computed) return { recordId: record.id, patientId: own };
  const row = await read.get<{ patient: number | null }>(
    sql`SELECT ${raw(patientColumn(resource))} AS patient FROM ${raw(tableOf(resource))} r
      WHERE r.org = ${org} AND r.id = ${record.id}`,
  );
  return { recordId: record.id, patientId: row?.patient ?? null };
}
