import type { Resource } from '../../catalog/define.ts';
import { appointmentBehaviour } from './appointments.ts';
import type { Behaviour } from './behaviour.ts';
import { documentHandlers } from './documentfiles.ts';
import { documentBehaviour } from './documents.ts';
import { eventHandlers } from './eventhandlers.ts';
import { eventBehaviour } from './events.ts';
import { missedAppointmentBehaviour } from './missedappointments.ts';
import { patientBehaviour } from './patients.ts';
import { agingBehaviour, openingsBehaviour, productionBehaviour } from './reports.ts';
import { transactionBehaviour } from './transactions.ts';
import { transactionTagBehaviour } from './transactiontags.ts';

const BEHAVIOURS: readonly Behaviour[] = [
  { ...documentBehaviour, handlers: documentHandlers },
  patientBehaviour,
  appointmentBehaviour,
  transactionBehaviour,
  transactionTagBehaviour,
  missedAppointmentBehaviour,
  { ...eventBehaviour, handlers: eventHandlers },
  productionBehaviour,
  agingBehaviour,
  openingsBehaviour,
];

/** What the server adds to a resource; nothing where the catalog says it all. */
export function behaviourOf(resource: Resource): Behaviour {
  return BEHAVIOURS.find((behaviour) => behaviour.resource === resource) ?? { resource };
}
