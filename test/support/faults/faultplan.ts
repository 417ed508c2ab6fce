import { seeded } from './seeded.ts';

/** What can go wrong with a request before the service gets it. */
export const UNFORWARDED = [
  /** The connection is reset at once, or in the middle of the request's body. */
  'reset-before',
  'reset-in-request',
  /** 408, 429, 500, 502, 503 or 504 without asking the service: in the API's envelope or as a gateway's page. */
  'refused',
  /** The proxy goes down with all connections, and refuses new ones until it is back. */
  'restart',
] as const;

/** What can go wrong after the service has done what was asked. */
export const FORWARDED = [
  /** Reset without a byte of the answer, in its head, in its body, or when its body is there without a clean end. */
  'reset-after',
  'reset-in-head',
  'reset-in-body',
  'reset-after-body',
  /** The body ends too early: below its announced length, in the middle of its chunks, or with a length made to fit. */
  'cut',
  'cut-in-chunks',
  'cut-to-fit',
  /** The body comes twice in one answer. */
  'duplicated',
  /** 200 with something that is no envelope, or with nothing. */
  'garbage',
  'empty',
  /** 500 or 502 although it is done. */
  'failed-after',
] as const;

/** What is unusual and still a right answer: it comes late, or more follows it before the connection ends. */
export const HARMLESS = ['slow', 'more-than-announced'] as const;

export type FaultKind = (typeof UNFORWARDED)[number] | (typeof FORWARDED)[number] | (typeof HARMLESS)[number];

export const ALL_FAULTS: readonly FaultKind[] = [...UNFORWARDED, ...FORWARDED, ...HARMLESS];

/** What is done to one request. `part`, from 0 up to 1, says where in it. */
export interface Fault {
  readonly kind: FaultKind | 'pass';
  readonly part: number;
  readonly status: number;
  readonly retryAfter?: string | undefined;
  /** A gateway's page in place of the API's envelope. */
  readonly html: boolean;
}

export interface FaultOptions {
  readonly seed: number;
  /** Part of the requests that something is done to, 0 to 1; 0.35 when not given. */
  readonly share?: number;
  /** Faults one after the other on the same request; 3 when not given. */
  readonly most?: number;
  /** Restarts of a whole run; 1 when not given. */
  readonly restarts?: number;
  readonly kinds?: readonly FaultKind[];
  /** From this request on (the first is 1) none gets through: a run that needs it must fail. */
  readonly breaksAt?: number;
  /** Longest time that a `slow` answer is held back, in milliseconds; 25 when not given. */
  readonly slow?: number;
  /** Requests that faults are for; all when not given. */
  readonly only?: (request: PlannedRequest) => boolean;
  /** What time it is for client and service, UTC milliseconds; that of the machine when not given. */
  readonly now?: () => number;
  /** Told the number of each request before anything is done to it; the first is 1. */
  readonly onRequest?: (number: number) => void;
}

export interface PlannedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Decides what is done to each request: the same for the same seed and order of requests. A request meets at most
 * `most` faults in a row, and each restart costs it at most two attempts (the connection cut, one refused). With
 * `most + 2 * restarts` not above the client's retries (5) every run gets through.
 */
export class FaultPlan {
  readonly seed: number;
  private readonly options: FaultOptions;
  private readonly random: () => number;
  private readonly inARow = new Map<string, number>();
  private readonly done: string[] = [];
  private restarts: number;

  constructor(options: FaultOptions) {
    this.seed = options.seed;
    this.options = options;
    this.random = seeded(options.seed);
    this.restarts = options.restarts ?? 1;
  }

  next(request: PlannedRequest): Fault {
    const { only = () => true } = this.options;
    const fault = only(request) ? this.choose(keyOf(request)) : PASS;
    this.options.onRequest?.(this.requests + 1);
    this.done.push(`${request.method} ${request.url} ${textOf(fault)}`);
    return fault;
  }

  /** UTC milliseconds. */
  now(): number {
    return this.options.now?.() ?? Date.now();
  }

  /** Milliseconds that an answer is held back. */
  delayOf({ kind, part }: Fault): number {
    return kind === 'slow' ? Math.ceil(part * (this.options.slow ?? 25)) : 0;
  }

  /** How many requests came. */
  get requests(): number {
    return this.done.length;
  }

  /** The seed and what was done to each request, to be shown when a test fails. */
  describe(): string {
    return [`seed ${this.seed}`, ...this.done.map((line, at) => `${at + 1} ${line}`)].join('\n');
  }

  private choose(key: string): Fault {
    const { share = 0.35, most = 3, breaksAt = Number.POSITIVE_INFINITY } = this.options;
    const broken = this.requests + 1 >= breaksAt;
    const count = this.inARow.get(key) ?? 0;
    // Drawn in any case, so that what is drawn next does not depend on it.
    const fault = this.draw(broken);
    const passes = !broken && (this.random() >= share || count >= most);
    this.inARow.set(key, passes ? 0 : count + 1);
    if (passes) return PASS;
    if (fault.kind === 'restart') this.restarts--;
    return fault;
  }

  private draw(broken: boolean): Fault {
    const kinds = (this.options.kinds ?? ALL_FAULTS).filter(
      (kind) => (kind !== 'restart' || (this.restarts > 0 && !broken)) && !(broken && isHarmless(kind)),
    );
    const kind = this.pick(kinds);
    const status = this.pick(kind === 'failed-after' ? [500, 502] : [408, 429, 500, 502, 503, 504]);
    const asks = this.pick([undefined, undefined, '0', '1', '2', new Date(this.now() + 2000).toUTCString()]);
    return {
      kind,
      part: this.random(),
      status,
      retryAfter: status === 429 || status === 503 ? asks : undefined,
      html: this.random() < 0.5,
    };
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random() * choices.length)] as T;
  }
}

const PASS: Fault = { kind: 'pass', part: 0, status: 200, html: false };

function isHarmless(kind: FaultKind): boolean {
  return (HARMLESS as readonly string[]).includes(kind);
}

/** The same for all attempts of a request: those after a 408 ask for smaller pages. */
function keyOf({ method, url, idempotencyKey = '' }: PlannedRequest): string {
  const { pathname, searchParams } = new URL(url, 'http://service');
  searchParams.delete('pageSize');
  searchParams.delete('page');
  return [method, pathname, searchParams, idempotencyKey].join(' ');
}

function textOf({ kind, status, retryAfter }: Fault): string {
  if (kind !== 'refused' && kind !== 'failed-after') return kind;
  return `${kind} ${status}${retryAfter === undefined ? '' : ` Retry-After ${retryAfter}`}`;
}
