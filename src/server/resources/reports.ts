import { operationOf } from '../../catalog/catalog.ts';
import { aging, openings, production } from '../../catalog/resources/reports.ts';
import { agingHandler } from '../reports/aging/report.ts';
import { openingsHandler } from '../reports/openings/openings.ts';
import { productionChunk } from '../reports/production/delivery.ts';
import { productionAsyncHandler, productionHandler } from '../reports/production/production.ts';
import type { Behaviour } from './behaviour.ts';

/** Scheduled production (D33). */
export const productionBehaviour: Behaviour = {
  resource: production,
  readChunk: productionChunk,
  handlers: {
    [operationOf(production, 'report').id]: productionHandler,
    [operationOf(production, 'async').id]: productionAsyncHandler,
  },
};

/** Aging balances (D34, D35). */
export const agingBehaviour: Behaviour = {
  resource: aging,
  handlers: { [operationOf(aging, 'report').id]: agingHandler },
};

/** Schedule openings (D32). */
export const openingsBehaviour: Behaviour = {
  resource: openings,
  handlers: { [operationOf(openings, 'list').id]: openingsHandler },
};
