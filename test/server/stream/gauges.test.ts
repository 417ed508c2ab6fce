import fastify from 'fastify';
import { expect, it } from 'vitest';
import { mountMetrics } from '../../../src/server/metrics/route.ts';
import type { Service } from '../../../src/server/service.ts';
import { deliveryMetrics, relayMetrics, streamMetrics } from '../../../src/server/stream/gauges.ts';
import type { Relay } from '../../../src/server/stream/relay/relay.ts';

it('metrics add up what each process has of its own, and take once what all of them share', async () => {
  const read = { get: async () => ({ oldest: 3, waiting: 4 }) };
  const stream = { listeners: 2, written: 5, heads: new Map([[1, { seq: 9 }]]), refresh: async () => undefined };
  const deliveries = { completed: 6, delivered: 70 };
  const service = { stream, deliveries, store: { read } } as unknown as Service;
  const relay = { connected: true, lag: 8, relayed: 90, failures: 1 } as unknown as Relay;
  const told = [...streamMetrics(service), ...deliveryMetrics(service), ...relayMetrics(relay)];
  const app = fastify();
  const store = { counts: { writes: 0, commits: 0 } };
  mountMetrics(app, store, told, undefined, { ofOthers: async (own) => [own], isCountedElsewhere: () => false });
  const { body } = await app.inject('/metrics');
  await app.close();
  const samples = [...body.matchAll(/^(molar_(?:stream|async|relay)_\w+) (\d+)$/gm)];
  expect(Object.fromEntries(samples.map(([, name, value]) => [name, Number(value)]))).toEqual({
    molar_stream_listeners: 4,
    molar_stream_messages_total: 5,
    molar_stream_oldest_message: 3,
    molar_stream_newest_message: 9,
    molar_async_deliveries_waiting: 4,
    molar_async_deliveries_total: 12,
    molar_async_records_total: 140,
    molar_relay_connected: 1,
    molar_relay_lag_messages: 8,
    molar_relay_messages_total: 180,
    molar_relay_failures_total: 2,
  });
  // The name says of what kind each is (prometheus.io/docs/practices/naming).
  for (const [, name = ''] of samples)
    expect(body).toContain(`# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}\n`);
});
