import type { ResourceFixture } from './fixture.ts';
import { appointmentFixture, appointmentHistoryFixture, missedAppointmentFixture } from './resources/appointments.ts';
import { documentFixture } from './resources/documents.ts';
import { eventFixture } from './resources/events.ts';
import { patientFixture } from './resources/patients.ts';
import {
  imageAttachmentFixture,
  patientInsurancePlanFixture,
  scheduleTemplateReasonFixture,
} from './resources/readonly.ts';
import { agingFixture, openingFixture, productionFixture } from './resources/reports.ts';
import { transactionFixture } from './resources/transactions.ts';
import { transactionTagFixture } from './resources/transactiontags.ts';
import { toldApart } from './tellingapart.ts';

/** One entry a resource: everything in `test/contract` runs for each of them. */
export const FIXTURES: readonly ResourceFixture[] = [
  documentFixture,
  patientFixture,
  transactionTagFixture,
  transactionFixture,
  appointmentHistoryFixture,
  missedAppointmentFixture,
  scheduleTemplateReasonFixture,
  patientInsurancePlanFixture,
  appointmentFixture,
  imageAttachmentFixture,
  eventFixture,
  productionFixture,
  agingFixture,
  openingFixture,
].map(toldApart);
