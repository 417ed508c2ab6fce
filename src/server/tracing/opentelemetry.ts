import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServerLog } from '../log.ts';
import { molarVersion } from '../version.ts';
import type { Tracing } from './tracing.ts';

/** How long a server that ends waits for its last spans to be taken. */
const CLOSE_MS = 3000;
/** A collector that is away would otherwise fill the log with one line every few seconds. */
const COMPLAIN_MS = 60_000;

const KINDS = { client: SpanKind.CLIENT, producer: SpanKind.PRODUCER };

/**
 * Spans sent with OTLP over HTTP, as the standard variables of OpenTelemetry say, which its own packages read: endpoint,
 * headers, sampler, resource, limits of batches.
 */
export function openTelemetry(log: Pick<ServerLog, 'note'>): Tracing {
  const report = reportFaults(log);
  const version = molarVersion();
  const own = resourceFromAttributes({ 'service.name': 'molar', 'service.version': version });
  const detected = detectResources({ detectors: [serviceInstanceIdDetector, envDetector] });
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(own).merge(detected),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('molar', version);
  const propagator = new W3CTraceContextPropagator();
  const current = new AsyncLocalStorage<Context>();

  return {
    async span({ name, kind, attributes = {}, isRoot = false }, work) {
      const parent = (isRoot ? undefined : current.getStore()) ?? ROOT_CONTEXT;
      const options = { attributes, ...(kind && { kind: KINDS[kind] }) };
      const span = tracer.startSpan(name, options, parent);
      try {
        return await current.run(trace.setSpan(parent, span), work, (event) => span.addEvent(event));
      } catch (error) {
        // Its message may quote values.
        span.setStatus({ code: SpanStatusCode.ERROR });
        if (error instanceof Error) span.setAttribute('error.type', error.name);
        throw error;
      } finally {
        span.end();
      }
    },

    mount(app: FastifyInstance) {
      const contexts = new WeakMap<FastifyRequest, Context>();
      app.addHook('onRequest', (request, reply, done) => {
        const { method } = request;
        const route = request.routeOptions.url ?? 'unknown';
        const attributes = { 'http.request.method': method, 'http.route': route, 'molar.request_id': request.id };
        const caller = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
        const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, caller);
        reply.raw.once('close', () => {
          const { statusCode: status } = reply;
          if (reply.raw.writableFinished) span.setAttribute('http.response.status_code', status);
          else span.setAttribute('error.type', 'aborted');
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        });
        const context = trace.setSpan(caller, span);
        contexts.set(request, context);
        current.run(context, done);
      });
      // What has read a body is called by its socket, which knows nothing of the request.
      app.addHook('preValidation', (request, _reply, done) => {
        current.run(contexts.get(request) ?? ROOT_CONTEXT, done);
      });
    },

    async close() {
      const timer = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([provider.shutdown().catch(report), timer]);
    },
  };
}

/** Says in the log when spans cannot be sent, or a variable cannot be used; the same once a minute at most. */
function reportFaults({ note }: Pick<ServerLog, 'note'>): (error: unknown) => void {
  let last = { reason: '', at: 0 };
  const complain = (text: string) => {
    const reason = text.slice(0, 200);
    const now = performance.now();
    if (reason === last.reason && now - last.at < COMPLAIN_MS) return;
    last = { reason, at: now };
    note('warn', 'traces cannot be sent as they should be', { reason });
  };
  const report = (error: unknown) => complain(error instanceof Error ? error.message || error.name : 'unknown');
  const silent = () => {};
  diag.setLogger({ error: complain, warn: silent, info: silent, debug: silent, verbose: silent }, DiagLogLevel.ERROR);
  setGlobalErrorHandler(report);
  return report;
}
