import { adjustments } from '../../../src/core/office/definitions/adjustments.ts';
import { birthdays } from '../../../src/core/office/definitions/birthdays.ts';
import { callList } from '../../../src/core/office/definitions/calllist.ts';
import { daySheet } from '../../../src/core/office/definitions/daysheet.ts';
import { deposits } from '../../../src/core/office/definitions/deposits.ts';
import { missingContacts } from '../../../src/core/office/definitions/missingcontacts.ts';
import { missingDocuments } from '../../../src/core/office/definitions/missingdocuments.ts';
import { noShows } from '../../../src/core/office/definitions/noshows.ts';
import { recall } from '../../../src/core/office/definitions/recall.ts';
import { schedule } from '../../../src/core/office/definitions/schedule.ts';
import type { OfficeReport } from '../../../src/core/office/report.ts';

/** The reports that a mirror answers alone. */
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
