import { RESOURCES } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import type { Behaviour } from '../resources/behaviour.ts';
import { behaviourOf } from '../resources/behaviours.ts';
import type { Handler } from '../service.ts';
import { deliveringHandler } from '../stream/deliveries.ts';
import { countHandler, getHandler, listHandler } from './reading.ts';
import { createHandler, deleteHandler, updateHandler } from './writing.ts';

const ENGINE: Readonly<Partial<Record<Operation['shape'], (behaviour: Behaviour, operation: Operation) => Handler>>> = {
  list: listHandler,
  // The immediate answer of an async endpoint is a list of its first records.
  async: listHandler,
  count: countHandler,
  get: getHandler,
  create: createHandler,
  update: updateHandler,
  delete: deleteHandler,
};

/** A handler for every operation of the catalog, by operation id. Throws when one has none: the server does not start then. */
export function allHandlers(): ReadonlyMap<string, Handler> {
  const handlers = new Map<string, Handler>();
  for (const resource of RESOURCES) {
    const behaviour = behaviourOf(resource);
    for (const operation of Object.values(resource.operations)) {
      const handler = behaviour.handlers?.[operation.id] ?? ENGINE[operation.shape]?.(behaviour, operation);
      if (handler === undefined) throw new Error(`No handler for ${operation.id}`);
      handlers.set(operation.id, operation.shape === 'async' ? deliveringHandler(operation, handler) : handler);
    }
  }
  return handlers;
}
