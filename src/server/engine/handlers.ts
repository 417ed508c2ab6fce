import { randomUUID } from 'node:crypto';
import { RESOURCES } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import { CORRELATION_HEADER } from '../../catalog/stream/messages.ts';
import { nowOf } from '../clock.ts';
import type { Behaviour } from '../resources/behaviour.ts';
import { behaviourOf } from '../resources/behaviours.ts';
import type { Handler } from '../service.ts';
import type { Reader } from '../store/store.ts';
import { addDelivery } from '../stream/deliverystore.ts';
import { countHandler, getHandler, listHandler } from './reading.ts';
import { createHandler, deleteHandler, updateHandler } from './writing.ts';

const ENGINE: Readonly<Partial<Record<Operation['shape'], (behaviour: Behaviour, operation: Operation) => Handler>>> = {
  list: listHandler,
  // The immediate response of an async endpoint is a list of its first records.
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

/**
 * An async endpoint: responds with its first records, and has all of them delivered to the stream under the correlation
 * id in the response's header (D41). The delivery is on disk before the response is sent.
 */
function deliveringHandler(operation: Operation, firstRecords: Handler): Handler {
  return async (request) => {
    const { grant, organization, query, service, actor } = request;
    const { org } = organization;
    const requireRoom = (read: Reader) => service.budgets.deliveries.requireRoom(read, org, grant.who);
    // Asked before the work as well, so that refusals cost little; what counts is the one in the write.
    await requireRoom(service.store.read);
    const response = await firstRecords(request);
    const correlationId = randomUUID();
    const delivery = {
      org,
      correlationId,
      operation: operation.id,
      filter: query.filter ?? null,
      responseFields: query.responseFields ?? null,
      locations: organization.locations ?? null,
      // Checked by now: absent, empty or a whole number.
      afterId: Number(query.lastId ?? 0),
      actor,
    };
    await service.store.write(async (tx) => {
      await requireRoom(tx);
      await addDelivery(tx, delivery, nowOf(service));
    }, org);
    service.deliveries.wake();
    return { ...response, headers: { [CORRELATION_HEADER]: correlationId } };
  };
}
