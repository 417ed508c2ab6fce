import type { FastifyInstance, FastifyRequest } from 'fastify';
import { senderName } from '../http/sender.ts';
import type { AccessLog } from '../log.ts';
import type { Store, StoreConnections } from '../store/store.ts';
import { RequestTimes, type Series } from './requesttimes.ts';

/** A number, or numbers by the value of a label. */
type Reading = number | ReadonlyMap<string, number>;

/** What a part of the server reports, read when `GET /metrics` is requested. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly kind: 'gauge' | 'counter';
  /** Name of the label, where `read` answers numbers by its values. */
  readonly label?: string;
  /** What counts of several processes that are one server: the sum when not given, `max` for what each tells of the whole. */
  readonly across?: 'max';
  read(): Reading | Promise<Reading>;
}

/** What one process tells to another that is asked for the metrics of their server; it can be sent as JSON. */
export interface ToldMetrics {
  readonly requests: readonly Series[];
  readonly others: readonly object[];
}

/** How the metrics of an app take in those of other processes, and what they leave out. */
export interface MetricsSharing {
  /** What the other processes of the server tell, to one that tells its own. */
  readonly ofOthers: (own: ToldMetrics) => Promise<readonly ToldMetrics[]>;
  /** Whether another process counts a request. */
  readonly isCountedElsewhere: (request: FastifyRequest) => boolean;
}

const ALONE: MetricsSharing = { ofOthers: async () => [], isCountedElsewhere: () => false };

/** Statuses of access refused. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 429]);

/** What a process adds up from its start on. */
const COUNTING: ReadonlySet<unknown> = new Set(['counter', 'histogram']);

/** Time that a listening server is up before it begins to watch its process: starting stays quick. */
const SETTLED_MS = 1000;

/**
 * `GET /metrics` (Prometheus text), and the hook that counts every request and logs it when its response is complete.
 * Answers what this process tells to another one of its server.
 */
export function mountMetrics(
  app: FastifyInstance,
  store: Pick<Store, 'counts' | 'connections'>,
  others: readonly Metric[] = [],
  log?: Pick<AccessLog, 'answered'>,
  { ofOthers, isCountedElsewhere } = ALONE,
): () => Promise<ToldMetrics> {
  const requests = new RequestTimes();
  let inFlight = 0;
  let opened: ReturnType<typeof openRegistry> | undefined;
  const registry = () => {
    opened ??= openRegistry([
      gauge('molar_http_requests_in_flight', 'Requests in progress.', () => inFlight),
      counter('molar_store_writes_total', 'Writes executed.', () => store.counts.writes),
      counter('molar_store_commits_total', 'Commits; concurrent writes share one.', () => store.counts.commits),
      ...connectionMetrics(store),
      ...others,
    ]);
    return opened;
  };

  app.addHook('onRequest', (request, reply, done) => {
    const began = performance.now();
    // A connection that is closed has no address any more.
    const { ip: address } = request;
    let finished = false;
    inFlight++;
    // Each is emitted once at most, and `once` would cost more.
    reply.raw.on('finish', () => {
      finished = true;
    });
    // A caller that disconnects causes no `finish`, but every response closes.
    reply.raw.on('close', () => {
      inFlight--;
      if (isCountedElsewhere(request)) return;
      const { method } = request;
      const route = request.routeOptions.url ?? 'unknown';
      const status = reply.statusCode;
      const milliseconds = performance.now() - began;
      requests.record({ method, route, status: finished ? status : 'aborted', seconds: milliseconds / 1000 });
      if (!finished) return;
      log?.answered({
        requestId: request.id,
        method,
        route,
        status,
        milliseconds: Math.round(milliseconds * 10) / 10,
        ...(REFUSALS.has(status) && { address, ...senderName(request) }),
      });
    });
    done();
  });

  let settling: NodeJS.Timeout | undefined;
  app.addHook('onListen', async () => {
    // A registry that cannot be opened is reported by GET /metrics.
    settling = setTimeout(() => registry().catch(() => undefined), SETTLED_MS).unref();
  });
  app.addHook('onClose', async () => clearTimeout(settling));

  const tell = async (): Promise<ToldMetrics> => ({
    requests: requests.all(),
    others: (await (await registry()).getMetricsAsJSON()).map(whole),
  });
  app.get('/metrics', async (_request, reply) => {
    const [found, own] = await Promise.all([registry(), tell()]);
    const told = await ofOthers(own);
    const all = told.reduce((sum, each) => sum.add(each.requests), new RequestTimes().add(own.requests));
    const together = told.length === 0 ? found : await aggregate([own, ...told]);
    return reply.type(found.contentType).send(`${all.text()}\n${await together.metrics()}`);
  });
  return tell;
}

/** The metrics of several processes as those of one. */
async function aggregate(told: readonly ToldMetrics[]) {
  const { AggregatorRegistry } = (await import('prom-client')).default;
  return AggregatorRegistry.aggregate(told.map(({ others }) => others) as object[]);
}

/** What counts on of processes that have ended: the counters and histograms of all in one. */
export async function countersOf(told: readonly ToldMetrics[]): Promise<ToldMetrics> {
  const requests = told.reduce((sum, each) => sum.add(each.requests), new RequestTimes());
  const counting = told.map((each) => ({
    ...each,
    others: each.others.filter((metric) => 'type' in metric && COUNTING.has(metric.type)),
  }));
  return { requests: requests.all(), others: await (await aggregate(counting)).getMetricsAsJSON() };
}

/** prom-client leaves out when processes started: a server starts with the first of its own. */
function whole<T extends { readonly aggregator?: string }>(metric: T): T {
  return metric.aggregator === 'omit' ? { ...metric, aggregator: 'min' } : metric;
}

function gauge(name: string, help: string, read: Metric['read']): Metric {
  return { name, help, kind: 'gauge', read };
}

function counter(name: string, help: string, read: Metric['read']): Metric {
  return { name, help, kind: 'counter', read };
}

/** The connection pools of a database server; nothing where the database is a file. */
function connectionMetrics({ connections }: Pick<Store, 'connections'>): Metric[] {
  if (connections === undefined) return [];
  const one = (name: keyof StoreConnections, help: string) =>
    gauge(`molar_database_connections_${name}`, help, () => connections()[name]);
  return [
    one('open', 'Connections to the database.'),
    one('idle', 'Idle connections to the database.'),
    one('waiting', 'Statements and writes waiting for a database connection.'),
  ];
}

/** The metrics of an app and of its process. prom-client is loaded here, so that it does not slow the start. */
async function openRegistry(all: readonly Metric[]) {
  // The default export exists in a bundle, too, where the names of a CommonJS package are not known.
  const { collectDefaultMetrics, Counter, Gauge, Registry } = (await import('prom-client')).default;
  const registry = new Registry();
  for (const { name, help, kind, label, across, read } of all) {
    const labelNames = label === undefined ? [] : [label];
    const config = { name, help, registers: [registry], labelNames, ...(across && { aggregator: across }) };
    const readings = async (): Promise<Iterable<[Record<string, string>, number]>> => {
      const value = await read();
      if (typeof value === 'number') return [[{}, value]];
      return [...value].map(([text, number]) => [{ [label ?? '']: text }, number]);
    };
    if (kind === 'gauge') {
      new Gauge({
        ...config,
        async collect() {
          for (const [labels, value] of await readings()) this.set(labels, value);
        },
      });
    } else {
      new Counter({
        ...config,
        async collect() {
          const values = await readings();
          this.reset();
          for (const [labels, value] of values) this.inc(labels, value);
        },
      });
    }
  }
  collectDefaultMetrics({ register: registry });
  return registry;
}
