import type { Link } from '../../catalog/fields/composites.ts';
import type { JsonRecord } from '../store/layout.ts';

/**
 * The id under which reports look for a record that has no resource: the location of a schedule template, the patient
 * of a pending insurance claim. Null for records that no report looks for.
 */
export function filedUnder(type: string, record: JsonRecord): number | null {
  if (type === 'ScheduleTemplateV1') return (record.location as Link).id;
  if (type === 'InsuranceClaim' && isPending(record.status)) return (record.patient as Link).id;
  return null;
}

/** PENDING in any letter case (contract §7, D8). */
function isPending(status: unknown): boolean {
  return typeof status === 'string' && status.toUpperCase() === 'PENDING';
}
