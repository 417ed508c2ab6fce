import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { API_PREFIX } from '../../catalog/catalog.ts';
import { refusal } from '../../catalog/failures.ts';
import { JSON_MEDIA_TYPE, parseJson, SMALL_BODY_BYTES } from '../body/jsonbody.ts';
import { mountDocs } from '../docs/route.ts';
import { connectionReadings } from '../metrics/connections.ts';
import type { Reading } from '../metrics/recorder.ts';
import { mountMetrics } from '../metrics/route.ts';
import type { Service } from '../service.ts';
import { deliveryReadings, streamReadings } from '../stream/gauges.ts';
import type { ListenerTimes } from '../stream/listener.ts';
import { Attempts, DEFAULT_ATTEMPTS, TooManyAttempts } from './attempts.ts';
import { limitWork } from './deadlines.ts';
import { failureOf, failureText } from './envelope.ts';
import { mountFiles } from './filesroute.ts';
import { mountHealth } from './health.ts';
import { authenticate, type Gate, identifyOrganization } from './identity.ts';
import type { AccessLog } from './logging.ts';
import { mountOperations } from './operations.ts';
import { Routes } from './routes.ts';
import { SECURITY_HEADERS, TLS_HEADERS } from './securityheaders.ts';
import { mountStream } from './streamroute.ts';
import {
  answerTimeouts,
  lacksHost,
  noteExchange,
  refuseExpectation,
  serverTimeouts,
  type Timeouts,
  timeoutOptions,
} from './timeouts.ts';
import { mountTokens } from './tokenroute.ts';

export interface AppOptions {
  readonly log: AccessLog;
  readonly timeouts: Timeouts;
  /** Requests a second for each organization and token; 0 limits nothing (D43). */
  readonly rateLimit: number;
  /** Credentials that are not accepted, from one address at once; the usual number when not given, 0 limits nothing. */
  readonly failedAttempts?: number;
  /** Trust `X-Forwarded-*` of the proxy in front, for the origin of signed URLs and the address of the caller. */
  readonly behindProxy: boolean;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** Times of stream listeners, where they are not the usual ones. */
  readonly listeners?: Partial<ListenerTimes>;
  /** What parts outside of the app tell in the metrics. */
  readonly readings?: readonly Reading[];
}

/** The whole service as an app that has not been given a socket: `inject` calls it in process. */
export async function buildApp(service: Service, options: AppOptions): Promise<FastifyInstance> {
  const server = { maxHeaderSize: HEADER_BYTES, ...serverTimeouts(options.timeouts) };
  const app: FastifyInstance = fastify({
    ...timeoutOptions(options.timeouts),
    ...(options.tls ? { https: { ...options.tls, minVersion: 'TLSv1.2', ...server } } : { http: server }),
    logger: false,
    bodyLimit: SMALL_BODY_BYTES,
    // What the proxy in front has added is trusted, not what came to it: anybody may write that.
    trustProxy: options.behindProxy && ((_address: string, hop: number) => hop === 0),
    routerOptions: { maxParamLength: HEADER_BYTES },
    genReqId: (request: IncomingMessage) => requestId(request.headers['x-request-id']),
    clientErrorHandler: answerTimeouts,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const { status, problems } = failureOf(error);
      setCommonHeaders(request, reply);
      reply.code(status).type(JSON_TYPE).send(failureText(status, problems));
    },
  } as object);

  const gate: Gate = { service, attempts: new Attempts(options.failedAttempts ?? DEFAULT_ATTEMPTS, service.clock) };
  const routes = new Routes(app);
  app.server.on('checkExpectation', refuseExpectation);
  app.server.on('request', noteExchange);
  // First of all, so that what is refused below is counted, too.
  const readings = [
    ...streamReadings(service),
    ...deliveryReadings(service),
    ...connectionReadings(service.store),
    ...(options.readings ?? []),
  ];
  mountMetrics(app, service.store, readings, options.log);
  limitWork(app, options.timeouts.requestMs);
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply);
    if (lacksHost(request.raw)) return done(refusal('request.malformed', 'Host', 'The Host header is missing.'));
    if (!request.is404) return done();
    // Before its body is looked at: an unknown route is told before a wrong body (D2).
    refuseUnknown(gate, routes, request, (allow) => reply.header('allow', allow)).catch(done);
  });
  app.setErrorHandler((error, request, reply) => {
    const { status, problems, unexpected } = failureOf(error);
    // A caller that left in the middle of its body is no fault of the server, and hears no answer.
    const hasLeft = request.raw.destroyed && !request.raw.complete;
    if (unexpected && !hasLeft) options.log.failed(request.id, error);
    // The rest of a late request may still arrive: it must not be taken for the next one.
    if (status === 408) {
      reply.header('connection', 'close');
      // Nobody tells a request that was answered of the end of its connection: a reader of its body would wait for ever.
      reply.raw.once('close', () => request.raw.destroy());
    }
    // A connection that is closed while the caller still sends is reset, and the caller never reads this answer.
    if (status === 413) reply.removeHeader('connection');
    if (status === 503) reply.header('retry-after', '1');
    if (error instanceof TooManyAttempts) reply.header('retry-after', String(error.seconds));
    reply.code(status).type(JSON_TYPE).send(failureText(status, problems));
  });
  readJsonOnly(app);
  mountHealth(app, service);
  mountDocs(app);
  await mountTokens(app, gate);
  mountFiles(app, service);
  await mountOperations(app, gate, options.rateLimit);
  mountStream(app, gate, { log: options.log, ...(options.listeners && { times: options.listeners }) });
  service.reads.onFault = (error) => options.log.failed('audit log', error);
  app.addHook('onReady', async () => {
    service.deliveries.start((error) => options.log.failed('async delivery', error));
  });
  return app;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** Filters of several hundred ids fit into a URL. */
const HEADER_BYTES = 64 * 1024;

/** One by one: to make an object of them for each answer takes longer than to set them. */
function setCommonHeaders({ id, protocol }: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', id);
  for (const [name, value] of COMMON_HEADERS) reply.header(name, value);
  if (protocol === 'https') reply.headers(TLS_HEADERS);
}

const COMMON_HEADERS = Object.entries(SECURITY_HEADERS);

/** The caller's own request id when it is 1–200 visible ASCII characters (D5). */
function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\x21-\x7e]{1,200}$/.test(sent) ? sent : randomUUID();
}

/** Bodies are JSON in UTF-8, parsed by our own reader so that every refusal is one of our table. */
function readJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    JSON_MEDIA_TYPE,
    { parseAs: 'buffer' },
    (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => {
      if (bytes.length === 0 && request.method === 'DELETE') return done(null);
      return done(null, parseJson(bytes));
    },
  );
}

/** An unknown route below the API is told only to those who may use the API at all (D2). */
async function refuseUnknown(
  gate: Gate,
  routes: Routes,
  request: FastifyRequest,
  allow: (methods: string) => void,
): Promise<never> {
  const path = request.url.split('?')[0] ?? '';
  if (path === API_PREFIX || path.startsWith(`${API_PREFIX}/`)) {
    const grant = await authenticate(gate, request);
    await identifyOrganization(gate.service, grant, header(request, 'organization-id'));
  }
  const methods = routes.methodsAt(path);
  if (methods.length > 0) {
    allow(methods.join(', '));
    throw refusal('route.method', null, `This route takes ${methods.join(', ')}, not ${request.method}.`);
  }
  throw refusal('route.unknown', null, 'There is no such route.');
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
