import type { StreamMessage } from '../../../src/catalog/stream/messages.ts';
import { localFailure } from '../../../src/core/failure.ts';
import type { StreamItem, StreamSource } from '../../../src/core/stream/source.ts';
import { ConnectionLost } from '../../../src/core/stream/source.ts';
import type { IncomingResponse } from '../../../src/core/transport/send.ts';

/** A message of organization org-1; the routing key follows from the rest. */
export function messageOf(id: number, more: Partial<StreamMessage> = {}): StreamMessage {
  const { locationId = '5', domainType = 'PatientV1', operation = 'UPDATE' } = more;
  return {
    id,
    routingKey: `org-1.${locationId}.${domainType}.${operation}`,
    organizationId: 'org-1',
    locationId,
    domainType,
    operation,
    sendTime: '2026-03-02T12:00:00.000Z',
    correlationId: null,
    payload: { id: 7000 + id, lastName: 'Vega' },
    ...more,
  };
}

export function readItem(message: StreamMessage, handled: (id: number) => void = () => undefined): StreamItem {
  const text = JSON.stringify(message);
  return { kind: 'message', message, text, position: positionOf(message), handled: () => handled(message.id) };
}

/** The position of a message, as the server gives it: nothing that a client could read. */
export const positionOf = ({ id }: StreamMessage) => `0a1b2c3d-${id}`;

/** An event as the server writes it. */
export function eventOf(message: StreamMessage): string {
  return `id: ${positionOf(message)}\nevent: ${message.operation}\ndata: ${JSON.stringify(message)}\n\n`;
}

/** An answer that is an event stream of these pieces, and ends after them; `hangs`: it never ends. */
export function streamAnswer(
  pieces: readonly (string | Uint8Array)[],
  { headers = {}, hangs = false }: { readonly headers?: Record<string, string>; readonly hangs?: boolean } = {},
): IncomingResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-stream-position': '0a1b2c3d-40', ...headers },
    body: (async function* () {
      for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
      if (hangs) await new Promise(() => undefined);
    })(),
  };
}

export async function* itemsOf(...items: readonly StreamItem[]): AsyncGenerator<StreamItem> {
  yield* items;
}

export const lost = (reason = 'It broke.', retryAfter?: number) =>
  new ConnectionLost(localFailure('network.unreachable', reason), retryAfter);

/** A source whose connections are these, one after the other: what they give, and how they end. */
export class ScriptedSource implements StreamSource {
  connections = 0;
  private readonly script: (readonly (StreamItem | Error)[])[];

  constructor(...script: (readonly (StreamItem | Error)[])[]) {
    this.script = script;
  }

  async *connect(signal: AbortSignal): AsyncGenerator<StreamItem, void> {
    this.connections++;
    const items = this.script.shift();
    if (items === undefined) throw new Error('Connected once more than the script has connections.');
    for (const item of items) {
      signal.throwIfAborted();
      if (item instanceof Error) throw item;
      yield item;
    }
  }
}
