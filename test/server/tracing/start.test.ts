import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { startTracing } from '../../../src/server/tracing/start.ts';
import { isTracing } from '../../../src/server/tracing/tracing.ts';

afterEach(() => vi.unstubAllEnvs());

const COLLECTOR = 'http://127.0.0.1:9';
const NAMED = { OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR };

it.each<[Readonly<Record<string, string>>, boolean]>([
  [{}, false],
  [NAMED, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: COLLECTOR }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, false],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ ...NAMED, OTEL_TRACES_EXPORTER: 'none' }, false],
  [{ ...NAMED, OTEL_TRACES_EXPORTER: '' }, true],
  [{ ...NAMED, OTEL_SDK_DISABLED: 'TRUE' }, false],
  [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: ' true ' }, false],
  [{ ...NAMED, OTEL_SDK_DISABLED: 'false' }, true],
])('with %j traces are on: %s, and off at the end', async (env, on) => {
  const names = ['EXPORTER_OTLP_ENDPOINT', 'EXPORTER_OTLP_TRACES_ENDPOINT', 'TRACES_EXPORTER', 'SDK_DISABLED'];
  for (const name of names) vi.stubEnv(`OTEL_${name}`, env[`OTEL_${name}`]);
  const end = await startTracing({ note: () => undefined });
  onTestFinished(() => (isTracing() ? end() : undefined));
  expect(isTracing()).toBe(on);
  await end();
  expect(isTracing()).toBe(false);
});
