import { NO_LOCATION, RESYNC } from '../../catalog/stream/domains.ts';
import { formatRoutingKey } from '../../catalog/stream/routingkeys.ts';
import type { StoredMessage } from './outbox.ts';

/**
 * Says to an organization that messages after `requested` are gone, and that the stream goes on after `resumedAfter`.
 * `sendTime`: `YYYY-MM-DDTHH:mm:ss.SSSZ`.
 */
export function resyncMessage(
  organizationId: string,
  { requested, resumedAfter }: { readonly requested: number; readonly resumedAfter: number },
  sendTime: string,
): StoredMessage {
  const key = { organizationId, locationId: NO_LOCATION, domainType: '*', operation: RESYNC };
  const routingKey = formatRoutingKey(key);
  const payload = { requested, resumedAfter };
  const envelope = { id: resumedAfter, routingKey, ...key, sendTime, correlationId: null, payload };
  return { id: resumedAfter, routingKey, operation: RESYNC, text: JSON.stringify(envelope) };
}
