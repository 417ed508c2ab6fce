import sql from 'sql-template-tag';
import type { Metric } from '../metrics/route.ts';
import type { Service } from '../service.ts';
import type { Reader } from '../store/store.ts';
import { countDeliveries } from './deliverystore.ts';
import type { Relay } from './relay/relay.ts';

/** What GET /metrics tells of the stream. */
export function streamMetrics({ stream, store }: Pick<Service, 'stream' | 'store'>): Metric[] {
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
      across: 'max',
      read: async () => {
        await stream.refresh();
        return stream.written;
      },
    },
    {
      name: 'molar_stream_oldest_message',
      help: 'Lowest number of a message that is kept, of those of any organization; 0 when none is.',
      kind: 'gauge',
      across: 'max',
      read: () => oldestNumber(store.read),
    },
    {
      name: 'molar_stream_newest_message',
      help: 'Highest number that a message of any organization was given; 0 when there never was one.',
      kind: 'gauge',
      across: 'max',
      read: async () => {
        await stream.refresh();
        return [...stream.heads.values()].reduce((highest, { seq }) => Math.max(highest, seq), 0);
      },
    },
  ];
}

async function oldestNumber(read: Reader): Promise<number> {
  const row = await read.get<{ oldest: number | null }>(
    sql`SELECT MIN(oldest) AS oldest FROM (SELECT (SELECT MIN(m.seq) FROM stream_messages m WHERE m.org = h.org) AS oldest
      FROM stream_heads h) AS firsts`,
  );
  return row?.oldest ?? 0;
}

/** What GET /metrics tells of async deliveries. */
export function deliveryMetrics({ deliveries, store }: Pick<Service, 'deliveries' | 'store'>): Metric[] {
  return [
    {
      name: 'molar_async_deliveries_waiting',
      help: 'Async deliveries that are not complete yet.',
      kind: 'gauge',
      across: 'max',
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
      across: 'max',
      read: () => (relay.connected ? 1 : 0),
    },
    {
      name: 'molar_relay_lag_messages',
      help: 'Stream messages that the broker has not confirmed yet.',
      kind: 'gauge',
      across: 'max',
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
