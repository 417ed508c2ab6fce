import { randomUUID } from 'node:crypto';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { localFailure } from '../failure.ts';
import { ApiFailure } from './apifailure.ts';
import { targetOf } from './attempt.ts';
import { type LookBack, type LookUp, outcomeUnknown } from './doubt.ts';
import { bodyText, type Envelope, readEnvelope } from './envelope.ts';
import { type Answer, type Clock, type Exchange, exchange, type RetryNotice, systemClock } from './exchange.ts';
import { Pacer, type TransferStatistics } from './pacer.ts';
import type { RetryPolicy } from './retry.ts';
import type { IncomingResponse, OutgoingBody, OutgoingRequest, Send } from './send.ts';
import type { TokenSource } from './token.ts';

export interface ClientOptions {
  /** What stands before `/api/v1`, without a slash at the end. */
  readonly baseUrl: string;
  readonly organization: string;
  readonly token: TokenSource;
  readonly send: Send;
  readonly retry: RetryPolicy;
  readonly clock?: Clock;
  /** Its own when absent; clients of the same server and token share one. */
  readonly pacer?: Pacer;
  /** From 0 up to 1, for jitter. */
  readonly random?: () => number;
  /** Makes idempotency keys and request ids. */
  readonly newId?: () => string;
  /** Milliseconds from the last byte sent to the whole answer (D43). */
  readonly timeout?: number;
  readonly userAgent?: string;
  /** Told each different warning once, of the server or about what became of a request. */
  readonly onWarning?: (warning: Warning) => void;
  readonly onRetry?: (notice: RetryNotice) => void;
  /** Told every attempt, for `--verbose`: no values of the query, no bodies, no headers. */
  readonly onAttempt?: Exchange['onAttempt'];
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Begins with `/api/v1`, parameters filled in. */
  readonly path: string;
  /** A function is asked anew for every attempt. */
  readonly query?: Query | (() => Query);
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value, or JSON text as a source of bytes that is opened anew for each attempt. */
  readonly body?: unknown;
  /** Key of a POST, made when absent; the same for every attempt (D46). */
  readonly idempotencyKey?: string;
  /** Repeating it does no harm whatever became of the first try. By default true for all methods but POST. */
  readonly repeatable?: boolean;
  /**
   * Tells whether a POST that may have been done was done; it has to answer with a record. Without it a POST of unknown
   * outcome fails (`network.outcome_unknown`) and is not sent again.
   */
  readonly lookUp?: LookUp;
  /** Called when a POST succeeded after an attempt that may have been done; what it throws is no failure of the POST. */
  readonly lookBack?: LookBack;
  /** Reads the envelope of an answer from its body, in valid UTF-8; `readEnvelope` where absent. Must not keep it. */
  readonly read?: (body: Uint8Array) => Envelope | undefined | Promise<Envelope | undefined>;
  /** Called with the headers of a successful answer before its body is read; again for each attempt. */
  readonly onHead?: (headers: IncomingResponse['headers']) => void;
  /** Told right before the request is sent again. */
  readonly onRetry?: (notice: RetryNotice) => void;
  readonly signal?: AbortSignal;
}

export interface ApiAnswer {
  /** 404 only for a DELETE that was repeated because an earlier attempt may have been done: the record is gone. */
  readonly status: number;
  readonly data: unknown;
  readonly warnings: readonly Warning[];
  readonly meta: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The one client of the API: every request of every command goes through `request`. */
export class ApiClient {
  readonly baseUrl: string;
  readonly organization: string;
  private readonly options: ClientOptions;
  private readonly warned = new Set<string>();
  private readonly newId: () => string;
  private readonly pacer: Pacer;

  constructor(options: ClientOptions) {
    this.options = options;
    this.pacer = options.pacer ?? new Pacer(options.clock ?? systemClock);
    this.baseUrl = options.baseUrl;
    this.organization = options.organization;
    this.newId = options.newId ?? randomUUID;
  }

  /** What this client, and whatever shares its pacer, sent so far. */
  get statistics(): TransferStatistics {
    return this.pacer.statistics;
  }

  /**
   * Sends a request with retries (contract §5) and reads the envelope. Throws an ApiFailure for any answer but
   * success, and a Failure with exit code 8 when no whole answer came.
   */
  async request(request: ApiRequest): Promise<ApiAnswer> {
    const key = request.method === 'POST' ? (request.idempotencyKey ?? this.newId()) : undefined;
    let renewed = false;
    let afterUnknown = false;
    for (;;) {
      const token = await this.options.token.token(request.signal);
      const answer = await exchange(this.exchangeOf(), {
        make: () => this.outgoing(request, token, key),
        repeatable: request.repeatable ?? request.method !== 'POST',
        keyed: key !== undefined,
        accept: request.read ?? ((body) => readEnvelope(bodyText(body))),
        ...(request.lookUp && { lookUp: request.lookUp, isClear: ({ data }: Envelope) => isRecord(data) }),
        ...(request.lookBack && { lookBack: request.lookBack }),
        ...(request.onRetry && { onRetry: request.onRetry }),
        ...(request.signal && { signal: request.signal }),
      });
      afterUnknown ||= answer.afterUnknown;
      if (answer.status === 401 && !renewed && this.options.token.renew(token)) {
        renewed = true;
        continue;
      }
      return this.finish(request, { ...answer, afterUnknown });
    }
  }

  /**
   * Sends a GET whose answer has no end, once, and gives the answer with its body unread, whatever its status; after a
   * 401 once more where the token can be renewed. Rejects as `Send` does.
   */
  async open(request: Pick<ApiRequest, 'path' | 'headers' | 'signal'>): Promise<IncomingResponse> {
    const { token: source, send, onAttempt, clock = systemClock } = this.options;
    for (let renewed = false; ; renewed = true) {
      const token = await source.token(request.signal);
      const outgoing = this.outgoing({ method: 'GET', ...request }, token, undefined);
      const started = clock.now();
      const response = await send(outgoing);
      const { status, headers } = response;
      const requestId = headers['x-request-id'] ?? null;
      const milliseconds = clock.now() - started;
      onAttempt?.({ method: 'GET', target: targetOf(outgoing.url), status, milliseconds, requestId });
      if (status !== 401 || renewed || !source.renew(token)) return response;
      // An answer that nobody reads would hold its connection.
      await response.body[Symbol.asyncIterator]().return?.();
    }
  }

  /** Absolute URL of a path and its query; undefined values are left out. */
  urlOf(path: string, query: Query = {}): string {
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
    const text = pairs
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
      .join('&');
    return `${this.baseUrl}${path}${text === '' ? '' : `?${text}`}`;
  }

  private exchangeOf(): Exchange {
    const { send, retry, clock, random, timeout, onRetry, onAttempt } = this.options;
    return {
      send,
      policy: retry,
      pacer: this.pacer,
      clock: clock ?? systemClock,
      random: random ?? Math.random,
      timeout: timeout ?? 90_000,
      ...(onRetry && { onRetry }),
      ...(onAttempt && { onAttempt }),
    };
  }

  private outgoing(request: ApiRequest, token: string, key: string | undefined): OutgoingRequest {
    const query = typeof request.query === 'function' ? request.query() : request.query;
    const body = request.body === undefined ? undefined : outgoingBody(request.body);
    return {
      method: request.method,
      url: this.urlOf(request.path, query),
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        'organization-id': this.organization,
        'x-request-id': this.newId(),
        ...(this.options.userAgent !== undefined && { 'user-agent': this.options.userAgent }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...request.headers,
      },
      ...(body !== undefined && { body }),
      ...(request.onHead && { onHead: request.onHead }),
      ...(request.signal && { signal: request.signal }),
    };
  }

  private finish(request: ApiRequest, answer: Answer<Envelope>): ApiAnswer {
    const { status, headers, requestId, value } = answer;
    if (answer.found !== undefined) {
      return { status: 200, data: answer.found.data, warnings: [], meta: null, requestId, headers };
    }
    for (const warning of value?.warnings ?? []) this.warn(warning);
    if (status >= 200 && status < 300 && value !== undefined) {
      return { status, data: value.data, warnings: value.warnings, meta: value.meta, requestId, headers };
    }
    if (status === 404 && request.method === 'DELETE' && answer.afterUnknown) {
      return { status, data: null, warnings: [], meta: null, requestId, headers };
    }
    if (status >= 300 && status < 400) {
      const where = redirectTarget(headers.location, this.baseUrl);
      throw localFailure('response.redirect', `The server redirects to ${where} (HTTP ${status}).`, { requestId });
    }
    const failure = new ApiFailure(status, value?.errors ?? [], requestId);
    throw answer.unknown === undefined ? failure : outcomeUnknown(failure, answer.unknown.look);
  }

  /** Tells a warning, unless the same one was told before. */
  warn(warning: Warning): void {
    const key = JSON.stringify([warning.title, warning.source, warning.description]);
    if (this.warned.has(key)) return;
    this.warned.add(key);
    this.options.onWarning?.(warning);
  }
}

function isRecord(data: unknown): boolean {
  return isPlainObject(data) && (typeof data.id === 'number' || typeof data.id === 'string');
}

function outgoingBody(body: unknown): OutgoingBody {
  return isByteSource(body) ? body : JSON.stringify(body);
}

function isByteSource(body: unknown): body is Exclude<OutgoingBody, string> {
  return typeof body === 'object' && body !== null && 'open' in body && typeof body.open === 'function';
}

/** Origin and path that a `Location` header names, for people. */
export function redirectTarget(location: string | undefined, baseUrl: string): string {
  if (location === undefined || !URL.canParse(location, baseUrl)) return 'another address';
  const url = new URL(location, baseUrl);
  return url.origin + url.pathname;
}
