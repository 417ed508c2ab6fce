import type { OfficeReport } from '../report.ts';
import { callList } from './calllist.ts';
import { schedule } from './schedule.ts';

/** The reports that a mirror answers alone, in the order in which they are listed. */
export const OFFICE_REPORTS: readonly OfficeReport<never>[] = [schedule, callList];
