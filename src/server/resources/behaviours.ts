import { operationOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { aging, openings, production } from '../../catalog/resources/reports.ts';
import { agingHandler } from '../reports/aging/report.ts';
import { openingsHandler } from '../reports/openings/openings.ts';
import { productionChunk } from '../reports/production/delivery.ts';
import { productionAsyncHandler, productionHandler } from '../reports/production/production.ts';
import { appointmentBehaviour } from './appointments.ts';
import type { Behaviour } from './behaviour.ts';
import { documentHandlers } from './documentfiles.ts';
import { documentBehaviour } from './documents.ts';
import { eventHandlers } from './eventhandlers.ts';
import { eventBehaviour } from './events.ts';
import { missedAppointmentBehaviour } from './missedappointments.ts';
import { patientBehaviour } from './patients.ts';
import { transactionBehaviour } from './transactions.ts';
import { transactionTagBehaviour } from './transactiontags.ts';

/** Scheduled production (D33). */
const productionBehaviour: Behaviour = {
  resource: production,
  readChunk: productionChunk,
  handlers: {
    [operationOf(production, 'report').id]: productionHandler,
    [operationOf(production, 'async').id]: productionAsyncHandler,
  },
};

/** Aging balances (D34, D35). */
const agingBehaviour: Behaviour = {
  resource: aging,
  handlers: { [operationOf(aging, 'report').id]: agingHandler },
};

/** Schedule openings (D32). */
const openingsBehaviour: Behaviour = {
  resource: openings,
  handlers: { [operationOf(openings, 'list').id]: openingsHandler },
};

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
