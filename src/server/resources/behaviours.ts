import type { Resource } from '../../catalog/define.ts';
import { appointmentBehaviour } from './appointments.ts';
import type { Behaviour } from './behaviour.ts';
import { documentBehaviour } from './documents.ts';
import { documentHandlers } from './documentfiles.ts';
import { patientBehaviour } from './patients.ts';
import { missedAppointmentBehaviour } from './missedappointments.ts';
import { transactionTagBehaviour } from './transactiontags.ts';
import { transactionBehaviour } from './transactions.ts';

const BEHAVIOURS: readonly Behaviour[] = [
  { ...documentBehaviour, handlers: documentHandlers },
  patientBehaviour,
  appointmentBehaviour,
  transactionBehaviour,
  transactionTagBehaviour,
  missedAppointmentBehaviour,
];

/** What the server adds to a resource; nothing where the catalog says it all. */
export function behaviourOf(resource: Resource): Behaviour {
  return BEHAVIOURS.find((behaviour) => behaviour.resource === resource) ?? { resource };
}
