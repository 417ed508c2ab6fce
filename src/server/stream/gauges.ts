import type { Metric } from '../metrics/route.ts';
import type { Service } from '../service.ts';
import { countDeliveries } from './deliverystore.ts';
import type { Relay } from './relay/relay.ts';

/** What GET /metrics tells of the stream. */
export function streamMetrics({ stream }: Pick<Service, 'stream'>): Metric[] {
  return [
    {
      name: 'molar_stream_listeners',
      help: 'Listeners that are connected to the stream.',
      kind: 'gauge',
      read: () => stream.listeners,
    },
    {
      name: 'molar_stream_messages_total',
      help: 'Messages written to the stream since the start.',
      kind: 'counter',
      read: async () => {
        await stream.position();
        return stream.written;
      },
    },
    {
      name: 'molar_stream_oldest_message',
      help: 'Number of the oldest message that is kept; 0 when none is.',
      kind: 'gauge',
      read: async () => (await stream.oldest()) ?? 0,
    },
    {
      name: 'molar_stream_newest_message',
      help: 'Number of the newest message; 0 when there never was one.',
      kind: 'gauge',
      read: () => stream.position(),
    },
  ];
}

/** What GET /metrics tells of async deliveries. */
export function deliveryMetrics({ deliveries, store }: Pick<Service, 'deliveries' | 'store'>): Metric[] {
  return [
    {
      name: 'molar_async_deliveries_waiting',
      help: 'Async deliveries that are not complete yet.',
      kind: 'gauge',
      read: () => countDeliveries(store.read),
    },
    {
      name: 'molar_async_deliveries_total',
      help: 'Async deliveries completed since the start.',
      kind: 'counter',
      read: () => deliveries.completed,
    },
    {
      name: 'molar_async_records_total',
      help: 'Records that async deliveries have brought to the stream since the start.',
      kind: 'counter',
      read: () => deliveries.delivered,
    },
  ];
}

/** What a relay tells in the metrics. */
export function relayMetrics(relay: Relay): readonly Metric[] {
  return [
    {
      name: 'molar_relay_connected',
      help: 'Whether the broker is connected: 1 or 0.',
      kind: 'gauge',
      read: () => (relay.connected ? 1 : 0),
    },
    {
      name: 'molar_relay_lag_messages',
      help: 'Stream messages that the broker has not confirmed yet.',
      kind: 'gauge',
      read: () => relay.lag,
    },
    {
      name: 'molar_relay_messages_total',
      help: 'Stream messages that the broker has confirmed.',
      kind: 'counter',
      read: () => relay.relayed,
    },
    {
      name: 'molar_relay_failures_total',
      help: 'Connections to the broker that ended or could not be made.',
      kind: 'counter',
      read: () => relay.failures,
    },
  ];
}
