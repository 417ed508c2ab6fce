import type { FastifyInstance } from 'fastify';

/** What a trace shows of a piece of work. Nothing of a patient is among it: no ids, values, statements or query strings. */
export interface SpanFacts {
  readonly name: string;
  /** `producer`: sends messages to a broker; `client`: waits for another service. Otherwise it is work of this process. */
  readonly kind?: 'producer' | 'client';
  readonly attributes?: Readonly<Record<string, string | number>>;
  /** Begins a trace of its own: work in the background belongs to no request, whichever one woke it. */
  readonly isRoot?: boolean;
}

/** Notes a moment within a span. */
export type Mark = (event: string) => void;

/** Where spans go. */
export interface Tracing {
  span<T>(facts: SpanFacts, work: (mark: Mark) => Promise<T>): Promise<T>;
  /** A span for each request. Call it before any other hook. */
  mount(app: FastifyInstance): void;
  /** Sends what is left, for some seconds at most. */
  close(): Promise<void>;
}

/** One for the process, as its environment is. */
let active: Tracing | undefined;

const unmarked: Mark = () => {};

/** Switches traces on for this process, or off. */
export function useTracing(tracing: Tracing | undefined): void {
  active = tracing;
}

/** Does the work, in a span where traces are switched on. */
export function traced<T>(facts: SpanFacts, work: (mark: Mark) => Promise<T>): Promise<T> {
  return active === undefined ? work(unmarked) : active.span(facts, work);
}

/** Has each request of an app in a span, where traces are switched on. */
export function traceRequests(app: FastifyInstance): void {
  active?.mount(app);
}

/** Whether traces are switched on. */
export function isTracing(): boolean {
  return active !== undefined;
}
