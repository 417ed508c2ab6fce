import type { Operation, Resource } from './define.ts';
import { appointmentHistories } from './resources/appointmenthistories.ts';
import { appointments } from './resources/appointments.ts';
import { documents } from './resources/documents.ts';
import { events } from './resources/events.ts';
import { imageAttachments } from './resources/imageattachments.ts';
import { missedAppointments } from './resources/missedappointments.ts';
import { patientInsurancePlans } from './resources/patientinsuranceplans.ts';
import { patients } from './resources/patients.ts';
import { aging, openings, production } from './resources/reports.ts';
import { scheduleTemplateReasons } from './resources/scheduletemplatereasons.ts';
import { transactions } from './resources/transactions.ts';
import { transactionTags } from './resources/transactiontags.ts';

/** Every resource of the service, in the order of the specification. */
export const RESOURCES: readonly Resource[] = [
  documents,
  patients,
  transactionTags,
  transactions,
  appointmentHistories,
  production,
  aging,
  missedAppointments,
  openings,
  scheduleTemplateReasons,
  patientInsurancePlans,
  events,
  appointments,
  imageAttachments,
];

/** Resources that have records of their own. */
export const STORED_RESOURCES: readonly Resource[] = RESOURCES.filter((resource) => !resource.computed);

export const API_PREFIX = '/api/v1';

/** Every operation with the resource it belongs to. */
export function allOperations(): { resource: Resource; operation: Operation }[] {
  return RESOURCES.flatMap((resource) =>
    Object.values(resource.operations).map((operation) => ({ resource, operation })),
  );
}

/** An operation that the resource is known to have. */
export function operationOf(resource: Resource, verb: string): Operation {
  const operation = resource.operations[verb];
  if (operation === undefined) throw new Error(`${resource.name} has no operation ${verb}`);
  return operation;
}

/** Path with its parameters filled in. */
export function pathOf(operation: Operation, id?: string | number): string {
  return API_PREFIX + operation.path.replace(/\{\w+\}/, encodeURIComponent(String(id ?? '')));
}
