import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { jsonOf } from '../jsontext.ts';

const TEXTS = ['routingKey', 'organizationId', 'locationId', 'domainType', 'operation', 'sendTime'] as const;

/** A message and its JSON on one line; undefined for a text that is no message of the stream (D40). */
export function readMessage(text: string): { readonly message: StreamMessage; readonly text: string } | undefined {
  const value = jsonOf(text);
  if (!isPlainObject(value)) return undefined;
  const { id, correlationId, payload } = value;
  const whole =
    Number.isSafeInteger(id) &&
    (id as number) >= 0 &&
    TEXTS.every((name) => typeof value[name] === 'string') &&
    (typeof correlationId === 'string' || correlationId === null || correlationId === undefined) &&
    isPlainObject(payload);
  if (!whole) return undefined;
  const message = { ...value, correlationId: correlationId ?? null } as unknown as StreamMessage;
  return { message, text: /[\r\n]/.test(text) ? JSON.stringify(value) : text };
}
