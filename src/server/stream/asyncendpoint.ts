import { randomUUID } from 'node:crypto';
import type { Operation } from '../../catalog/define.ts';
import { CORRELATION_HEADER } from '../../catalog/stream/messages.ts';
import { nowOf } from '../clock.ts';
import type { Handler } from '../service.ts';
import { addDelivery } from './deliverystore.ts';

/**
 * An async endpoint: answers its first records, and has all of them delivered to the stream under the correlation id
 * that the answer's header names (D41). The delivery is on disk before the answer is sent.
 */
export function deliveringHandler(operation: Operation, firstRecords: Handler): Handler {
  return async (request) => {
    const answer = await firstRecords(request);
    const { organization, query, service } = request;
    const correlationId = randomUUID();
    const delivery = {
      org: organization.org,
      correlationId,
      operation: operation.id,
      filter: query.filter ?? null,
      responseFields: query.responseFields ?? null,
      // Checked by now: absent, empty or a whole number.
      afterId: Number(query.lastId ?? 0),
    };
    await service.store.write((tx) => addDelivery(tx, delivery, nowOf(service)), organization.org);
    service.deliveries.wake();
    return { ...answer, headers: { [CORRELATION_HEADER]: correlationId } };
  };
}
