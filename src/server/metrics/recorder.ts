import type { StoreCounts } from '../store/store.ts';

/** One answered request. `status` is `aborted` when the caller went away before the answer was whole. */
export interface Answered {
  readonly method: string;
  /** Route template, so that ids and queries stay out; `unknown` where no route matched. */
  readonly route: string;
  readonly status: number | 'aborted';
  readonly seconds: number;
}

/** What is counted, and how it is told. */
export interface Recorder {
  record(answered: Answered): void;
  /** Begins to watch the process: event loop, garbage collection, memory. Watching costs a little all the time. */
  watch(): void;
  /** The Prometheus text, and its content type. */
  report(): Promise<{ readonly text: string; readonly type: string }>;
}

/** One number that a part of the server tells, read when it is asked for. */
export interface Reading {
  readonly name: string;
  readonly help: string;
  readonly kind: 'gauge' | 'counter';
  read(): number | Promise<number>;
}

/** What the gauges read when they are asked. */
export interface Readings {
  /** Requests that are being answered now. */
  inFlight(): number;
  /** What the store has written. */
  store(): Readonly<StoreCounts>;
  /** What other parts of the server tell. */
  readonly others: readonly Reading[];
}

/** Seconds: from answers out of memory to uploads that take a minute. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/**
 * Counters and histograms of one app, in a registry of its own. prom-client is loaded here, so that a server has been
 * listening for a while before it costs anything.
 */
export async function openRecorder(readings: Readings): Promise<Recorder> {
  // The default is there in a bundle, too, where the names of a CommonJS package are not known.
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = (await import('prom-client')).default;
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({
    name: 'molar_http_requests_total',
    help: 'Requests answered.',
    labelNames,
    registers,
  });
  const durations = new Histogram({
    name: 'molar_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer.',
    labelNames,
    buckets: BUCKETS,
    registers,
  });
  new Gauge({
    name: 'molar_http_requests_in_flight',
    help: 'Requests being answered now.',
    registers,
    collect() {
      this.set(readings.inFlight());
    },
  });
  const counted = (name: string, help: string, read: (counts: Readonly<StoreCounts>) => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(readings.store()));
      },
    });
  counted('molar_store_writes_total', 'Writes that were run.', (counts) => counts.writes);
  counted('molar_store_commits_total', 'Commits; writes that come together share one.', (counts) => counts.commits);
  for (const { name, help, kind, read } of readings.others) {
    if (kind === 'gauge') {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    } else {
      new Counter({
        name,
        help,
        registers,
        async collect() {
          const value = await read();
          this.reset();
          this.inc(value);
        },
      });
    }
  }
  let watching = false;
  const watch = () => {
    if (!watching) collectDefaultMetrics({ register: registry });
    watching = true;
  };
  return {
    watch,
    record({ method, route, status, seconds }) {
      const labels = { method, route, status: String(status) };
      requests.inc(labels);
      durations.observe(labels, seconds);
    },
    async report() {
      watch();
      return { text: await registry.metrics(), type: registry.contentType };
    },
  };
}
