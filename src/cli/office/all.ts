import { collectionsReport } from './collectionsreport.ts';
import {
  adjustmentsReport,
  birthdaysReport,
  callListReport,
  daySheetReport,
  depositsReport,
  missingContactsReport,
  missingDocumentsReport,
  noShowsReport,
  recallReport,
  scheduleReport,
} from './mirrorreports.ts';
import { productionReport } from './productionreport.ts';
import type { ReportSpec } from './spec.ts';

/** Every report, in the order in which they are listed. */
export const REPORTS: readonly ReportSpec[] = [
  scheduleReport,
  callListReport,
  recallReport,
  noShowsReport,
  daySheetReport,
  collectionsReport,
  productionReport,
  depositsReport,
  adjustmentsReport,
  birthdaysReport,
  missingContactsReport,
  missingDocumentsReport,
];
