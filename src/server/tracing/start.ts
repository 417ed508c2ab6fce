import type { ServerLog } from '../log.ts';
import { useTracing } from './tracing.ts';

/** Whether the standard variables switch traces on: an endpoint or an exporter is named, and nothing switches them off. */
function wantsTraces(env: Readonly<Record<string, string | undefined>>): boolean {
  const isNamed = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].some((name) =>
    env[name]?.trim(),
  );
  const exporter = env.OTEL_TRACES_EXPORTER?.trim();
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false;
  return exporter ? exporter === 'otlp' : isNamed;
}

/** Starts tracing if the environment asks for it, and gives what ends it. Libraries are loaded only then. */
export async function startTracing(log: Pick<ServerLog, 'note'>): Promise<() => Promise<void>> {
  if (!wantsTraces(process.env)) return async () => {};
  const { openTelemetry } = await import('./opentelemetry.ts');
  const tracing = openTelemetry(log);
  useTracing(tracing);
  return async () => {
    useTracing(undefined);
    await tracing.close();
  };
}
