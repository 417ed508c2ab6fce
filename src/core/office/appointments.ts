import { FREEING_STATUSES } from '../../catalog/resources/appointments.ts';
import { textsSql } from './sqltext.ts';

/** Whether an appointment takes up its time (D33). `status`: an expression of SQL. */
export function bookedSql(status: string): string {
  return `coalesce(${status}, '') NOT IN ${textsSql(FREEING_STATUSES)}`;
}
