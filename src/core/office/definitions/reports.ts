import type { OfficeReport } from '../report.ts';
import { adjustments } from './adjustments.ts';
import { birthdays } from './birthdays.ts';
import { callList } from './calllist.ts';
import { daySheet } from './daysheet.ts';
import { deposits } from './deposits.ts';
import { missingContacts } from './missingcontacts.ts';
import { missingDocuments } from './missingdocuments.ts';
import { noShows } from './noshows.ts';
import { recall } from './recall.ts';
import { schedule } from './schedule.ts';

/** The reports that a mirror answers alone, in the order in which they are listed. */
export const OFFICE_REPORTS: readonly OfficeReport<never>[] = [
  schedule,
  callList,
  recall,
  noShows,
  daySheet,
  deposits,
  adjustments,
  birthdays,
  missingContacts,
  missingDocuments,
];
