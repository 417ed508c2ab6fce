/** One request. `status` is `aborted` when the caller disconnected before the response was complete. */
interface FinishedRequest {
  readonly method: string;
  /** Route template, so that ids and queries stay out; `unknown` where no route matched. */
  readonly route: string;
  readonly status: number | 'aborted';
  readonly seconds: number;
}

/** Upper bounds in seconds: from responses out of memory to uploads that take a minute. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

const COUNTER = 'molar_http_requests_total';
const HISTOGRAM = 'molar_http_request_duration_seconds';

/** Requests of one method, route and status. */
export interface Series {
  readonly labels: string;
  /** Requests by the first bucket they fit into; those beyond the last one are in none. */
  readonly buckets: number[];
  count: number;
  seconds: number;
}

/** Number and duration of requests. Every request pays for it: one map look-up and a few sums, text only on demand. */
export class RequestTimes {
  private readonly series = new Map<string, Series>();

  record({ method, route, status, seconds }: FinishedRequest): void {
    const series = this.seriesOf(method, route, String(status));
    series.count++;
    series.seconds += seconds;
    const bucket = BUCKETS.findIndex((most) => seconds <= most);
    if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  private seriesOf(method: string, route: string, status: string): Series {
    // None of these can contain a character that needs escaping.
    const labels = `method="${method}",route="${route}",status="${status}"`;
    const known = this.series.get(labels);
    if (known !== undefined) return known;
    const series = { labels, buckets: BUCKETS.map(() => 0), count: 0, seconds: 0 };
    this.series.set(labels, series);
    return series;
  }

  /** The requests of this process, as `add` takes them in another. */
  all(): Series[] {
    return [...this.series.values()];
  }

  /** Adds requests of another process of the server. */
  add(all: readonly Series[]): this {
    for (const { labels, buckets, count, seconds } of all) {
      const known = this.series.get(labels);
      this.series.set(labels, {
        labels,
        buckets: BUCKETS.map((_, index) => (known?.buckets[index] ?? 0) + (buckets[index] ?? 0)),
        count: (known?.count ?? 0) + count,
        seconds: (known?.seconds ?? 0) + seconds,
      });
    }
    return this;
  }

  /** A counter and a histogram as Prometheus text. */
  text(): string {
    const all = this.all();
    const lines = [
      `# HELP ${COUNTER} Requests served.`,
      `# TYPE ${COUNTER} counter`,
      ...all.map(({ labels, count }) => `${COUNTER}{${labels}} ${count}`),
      '',
      `# HELP ${HISTOGRAM} Time from the headers of a request to the end of its response.`,
      `# TYPE ${HISTOGRAM} histogram`,
      ...all.flatMap(histogramLines),
    ];
    return `${lines.join('\n')}\n`;
  }
}

function histogramLines({ labels, buckets, count, seconds }: Series): string[] {
  let fitting = 0;
  const lines = BUCKETS.map((most, index) => {
    fitting += buckets[index] ?? 0;
    return `${HISTOGRAM}_bucket{le="${most}",${labels}} ${fitting}`;
  });
  return [
    ...lines,
    `${HISTOGRAM}_bucket{le="+Inf",${labels}} ${count}`,
    `${HISTOGRAM}_sum{${labels}} ${seconds}`,
    `${HISTOGRAM}_count{${labels}} ${count}`,
  ];
}
