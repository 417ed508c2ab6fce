import type { StoreCounts } from '../store/store.ts';
import type { RequestTimes } from './requesttimes.ts';

/** What is told of a server. */
export interface Recorder {
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

/**
 * Counters and gauges of one app, in a registry of its own. prom-client is loaded here, so that a server has been
 * listening for a while before it costs anything.
 */
export async function openRecorder(requests: RequestTimes, readings: Readings): Promise<Recorder> {
  // The default is there in a bundle, too, where the names of a CommonJS package are not known.
  const { collectDefaultMetrics, Counter, Gauge, Registry } = (await import('prom-client')).default;
  const registry = new Registry();
  const registers = [registry];
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
    async report() {
      watch();
      return { text: `${requests.text()}\n${await registry.metrics()}`, type: registry.contentType };
    },
  };
}
