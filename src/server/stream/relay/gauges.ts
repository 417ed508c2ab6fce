import type { Metric } from '../../metrics/route.ts';
import type { Relay } from './relay.ts';

/** What a relay tells in the metrics. */
export function relayReadings(relay: Relay): readonly Metric[] {
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
