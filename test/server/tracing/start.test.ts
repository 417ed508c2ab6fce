import { afterEach, expect, it, vi } from 'vitest';
import { startTracing } from '../../../src/server/tracing/start.ts';
import { isTracing } from '../../../src/server/tracing/tracing.ts';

afterEach(() => vi.unstubAllEnvs());

const COLLECTOR = 'http://127.0.0.1:9';
const NAMED = { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR };

it.each<[boolean, Readonly<Record<string, string>>]>([
  [false, {}],
  [true, NAMED],
  [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: COLLECTOR }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  [true, { OTEL_TRACES_EXPORTER: 'otlp' }],
  [false, { ...NAMED, OTEL_TRACES_EXPORTER: 'none' }],
  [true, { ...NAMED, OTEL_TRACES_EXPORTER: '' }],
  [false, { ...NAMED, OTEL_SDK_DISABLED: 'TRUE' }],
  [false, { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: ' true ' }],
  [true, { ...NAMED, OTEL_SDK_DISABLED: 'false' }],
])('traces are on: %s, with %j, and off at the end', async (on, env) => {
  const names = ['EXPORTER_OTLP_ENDPOINT', 'EXPORTER_OTLP_TRACES_ENDPOINT', 'TRACES_EXPORTER', 'SDK_DISABLED'];
  for (const name of names) vi.stubEnv(`OTEL_${name}`, env[`OTEL_${name}`]);
  const end = await startTracing({ note: () => undefined });
  expect(isTracing()).toBe(on);
  await end();
  expect(isTracing()).toBe(false);
});
