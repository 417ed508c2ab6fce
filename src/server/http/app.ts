import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AUDITED_REFUSALS, RefusalTrail, type RefusedRequest } from '../audit/refusals.ts';
import { JSON_MEDIA_TYPE, parseJson, SMALL_BODY_BYTES } from '../body/jsonbody.ts';
import { OverBudget } from '../budgets/overbudget.ts';
import { mountDocs } from '../docs/route.ts';
import { type AccessLog, placeOf } from '../log.ts';
import { type Metric, type MetricsSharing, mountMetrics, type ToldMetrics } from '../metrics/route.ts';
import { behaviourOf } from '../resources/behaviours.ts';
import type { Service } from '../service.ts';
import { mountSignIn, type SignIn } from '../signin/signin.ts';
import type { ComputedReaders } from '../stream/deliveries.ts';
import { deliveryMetrics, streamMetrics } from '../stream/gauges.ts';
import type { ListenerTimes } from '../stream/listener.ts';
import { traceRequests } from '../tracing/tracing.ts';
import { addressingProblem } from './addressing.ts';
import { Attempts, DEFAULT_ATTEMPTS, TooManyAttempts } from './attempts.ts';
import { Draining } from './draining.ts';
import { failureOf, failureText, JSON_TYPE, SECURITY_HEADERS, TLS_HEADERS } from './envelope.ts';
import { mountFiles } from './filesroute.ts';
import { type HandOver, handOverOthers } from './handover.ts';
import { mountHealth } from './health.ts';
import { mountOperations } from './operations.ts';
import { type RateLimit, rateLimitOf } from './ratelimit.ts';
import {
  Routes,
  refuseConnect,
  refuseConnection,
  refuseExpectation,
  refuseUnparsed,
  trackExchange,
} from './refusals.ts';
import { serveInOrder } from './requestorder.ts';
import { namedBy } from './sender.ts';
import { closeStalled } from './slowreaders.ts';
import { mountStream } from './streamroute.ts';
import { frameworkTimeouts, limitWork, serverTimeouts, type Timeouts } from './timeouts.ts';
import type { TlsOptions } from './tls.ts';
import { mountTokens } from './tokenroute.ts';

/** How an app is set up. */
export interface AppOptions {
  readonly log: AccessLog;
  readonly timeouts: Timeouts;
  /** Requests a second for each organization and token; 0 limits nothing (D43). */
  readonly rateLimit: number;
  /** Failed credentials from one address at once, `DEFAULT_ATTEMPTS` when not given; 0 limits nothing. */
  readonly failedAttempts?: number;
  /** Trust `X-Forwarded-*` of the proxy in front, for the origin of signed URLs and the address of the caller. */
  readonly behindProxy: boolean;
  readonly tls?: TlsOptions;
  /** Who signs in besides the holders of tokens; nobody when not given. */
  readonly signIn?: SignIn;
  /** Times of stream listeners that differ from `LISTENER_TIMES`. */
  readonly listeners?: Partial<ListenerTimes>;
  /** Metrics of parts outside of the app. */
  readonly metrics?: readonly Metric[];
  /** What differs where several processes are one server. */
  readonly process?: ProcessOptions;
}

/** What the app of a process of several does with the others. */
export interface ProcessOptions {
  /** The fraction of failed credentials that this process may see. */
  readonly attempts: number;
  readonly ofOthers: MetricsSharing['ofOthers'];
  /** A rate limit that the others share; `rateLimit` when not given. */
  readonly limit?: RateLimit | undefined;
  /** Who gets the requests that this process does not answer itself; it answers all when not given. */
  readonly handOver?: HandOver | undefined;
  /** Resolves when the connections that this process was given are closed. */
  readonly ending: () => Promise<void>;
}

/** An app, how it takes leave of its callers before it is closed, and what other processes of its server ask of it. */
export type App = FastifyInstance & {
  readonly draining: Draining;
  readonly limit: RateLimit;
  readonly tellMetrics: () => Promise<ToldMetrics>;
};

/** The complete service as an app without a socket: `inject` calls it in process. */
export async function buildApp(service: Service, options: AppOptions): Promise<App> {
  // A missing Host is refused by the app, in the envelope; the HTTP server would send nothing but the status.
  const server = { maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false, ...serverTimeouts(options.timeouts) };
  const app: FastifyInstance = fastify({
    ...frameworkTimeouts(options.timeouts),
    ...(options.tls ? { https: { ...options.tls, ...server } } : { http: server }),
    logger: false,
    // What still comes on a connection while the server ends is answered like everything before it.
    return503OnClosing: false,
    bodyLimit: SMALL_BODY_BYTES,
    // What the proxy in front has added is trusted, not what it received: anybody may send that.
    trustProxy: options.behindProxy && ((_address: string, hop: number) => hop === 0),
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    genReqId: (request: IncomingMessage) => requestIdOf(request.headers['x-request-id']),
    clientErrorHandler: refuseUnparsed,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const { status, problems } = failureOf(error);
      setCommonHeaders(request, reply);
      reply.code(status).type(JSON_TYPE).send(failureText(status, problems));
    },
  } as object);

  const { process: part } = options;
  const handOver = part?.handOver;
  const attempts = new Attempts(options.failedAttempts ?? DEFAULT_ATTEMPTS, service.clock, part?.attempts);
  const limit = part?.limit ?? rateLimitOf(service.store, options.rateLimit, service.clock);
  const auth = { service, attempts, ...options.signIn };
  const routes = new Routes(app);
  service.budgets.connections.guard(app.server, {
    oneAddress: options.behindProxy,
    tell: refuseConnection,
    refused: () => service.budgets.refused('connections'),
  });
  // Behind the guard, which answers a refused connection once for each listener that it stands before.
  mountSignIn(app, options.signIn ?? {});
  closeStalled(app.server);
  const draining = new Draining(app.server);
  const refusals = new RefusalTrail(service.reads, service.clock);
  app.addHook('onClose', async () => refusals.end());
  app.server.on('checkExpectation', refuseExpectation);
  app.server.on('connect', refuseConnect);
  if (handOver !== undefined) handOverOthers(app.server, handOver);
  serveInOrder(app.server);
  app.server.on('request', trackExchange);
  traceRequests(app);
  // First of all, so that what is refused below is counted, too.
  const metrics = [
    ...streamMetrics(service),
    ...deliveryMetrics(service),
    ...service.budgets.metrics(service.store.read),
    ...(options.metrics ?? []),
  ];
  const tellMetrics = mountMetrics(app, service.store, metrics, options.log, {
    ofOthers: part?.ofOthers ?? (async () => []),
    isCountedElsewhere: (request) => handOver?.has(request.raw) ?? false,
  });
  limitWork(app, options.timeouts.requestMs);
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply);
    const problem = addressingProblem(request.raw, options.behindProxy);
    if (problem !== undefined) return done(problem);
    if (!request.is404) return done();
    // Before its body is read: an unknown route is reported before a wrong body (D2).
    routes.refuseUnknown(auth, request, reply).catch(done);
  });
  app.setErrorHandler((error, request, reply) => {
    const { status, problems, unexpected } = failureOf(error);
    // A caller that disconnected in the middle of its body is no fault of the server, and receives no response.
    const hasLeft = request.raw.destroyed && !request.raw.complete;
    // What is refused here is refused, counted and recorded there; what took too long would take as long again.
    if (handOver !== undefined && status !== 408) {
      if (request.limited !== undefined) limit.giveBack?.(request.limited);
      reply.hijack();
      return handOver.give(request.raw, reply.raw);
    }
    if (unexpected && !hasLeft) options.log.failed(placeOf(request), error);
    // The rest of a late request may still arrive: it must not be parsed as the next one.
    if (status === 408) {
      reply.header('connection', 'close');
      // A request that was answered is not notified of the end of its connection: a reader of its body would wait for ever.
      reply.raw.once('close', () => request.raw.destroy());
    }
    // A connection closed while the caller still sends is reset, and the caller never reads this response.
    if (status === 413) reply.removeHeader('connection');
    if (AUDITED_REFUSALS.has(status)) refusals.note(refusedRequest(request, status));
    if (status === 503) reply.header('retry-after', '1');
    if (error instanceof OverBudget) {
      service.budgets.refused(error.budget);
      reply.header('retry-after', String(error.seconds));
    }
    if (error instanceof TooManyAttempts) reply.header('retry-after', String(error.seconds));
    reply.code(status).type(JSON_TYPE).send(failureText(status, problems));
  });
  readJsonOnly(app);
  mountHealth(app, service, draining);
  mountDocs(app, service.maxText);
  await mountTokens(app, auth);
  mountFiles(app, service);
  await mountOperations(app, auth, limit);
  mountStream(app, auth, options.log, options.listeners);
  service.reads.onFault = (error, requestId) => options.log.failed({ part: 'audit log', requestId }, error);
  // Behind the end of what has no end of its own.
  if (part !== undefined) app.addHook('preClose', part.ending);
  app.addHook('onReady', async () => {
    // Only who may write delivers.
    if (handOver !== undefined) return;
    const readerOf: ComputedReaders = (resource) => behaviourOf(resource).readChunk;
    service.deliveries.start(readerOf, (error, requestId) =>
      options.log.failed({ part: 'async delivery', requestId }, error),
    );
  });
  return Object.assign(app, { draining, limit, tellMetrics });
}

/** What the audit log tells of a refused request. */
function refusedRequest(request: FastifyRequest, status: number): RefusedRequest {
  const { caller, ip, id } = request;
  const known = caller && { who: caller.grant.who, org: caller.organization.org };
  return { status, address: ip, requestId: id, ...namedBy(request), ...known };
}

/** Filters of several hundred ids fit into a URL. */
const MAX_HEADER_BYTES = 64 * 1024;

/** One by one: building an object for each response takes longer than setting them. */
function setCommonHeaders({ id, protocol }: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', id);
  for (const [name, value] of COMMON_HEADERS) reply.header(name, value);
  if (protocol === 'https') reply.headers(TLS_HEADERS);
}

const COMMON_HEADERS = Object.entries(SECURITY_HEADERS);

/** The caller's own request id when it is 1–200 visible ASCII characters (D5). */
function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\x21-\x7e]{1,200}$/.test(sent) ? sent : randomUUID();
}

/** Bodies are JSON in UTF-8, parsed by our own reader so that every refusal comes from our table. */
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
