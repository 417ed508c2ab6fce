import { randomUUID } from 'node:crypto';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type Failure, localFailure } from '../failure.ts';
import { ApiFailure } from './apifailure.ts';
import { targetOf } from './attempt.ts';
import { bodyText, type Envelope, readEnvelope } from './envelope.ts';
import { type ExchangeContext, type ExchangeResponse, exchange, type RetryNotice } from './exchange.ts';
import { Pacer, type TransferStatistics } from './pacer.ts';
import { type RetryPolicy, retryDelay } from './retry.ts';
import { type IncomingResponse, isSuccess, type OutgoingBody, type OutgoingRequest, type Send } from './send.ts';
import { outcomeUnknown, type WriteLookups } from './uncertainwrite.ts';

/** Where the bearer token comes from. */
export interface TokenSource {
  /** The token to send now; may have to fetch it. */
  readonly token: (signal?: AbortSignal) => Promise<string>;
  /** Called after a 401 for `token`: forgets it and says whether another one can be had. */
  readonly renew: (token: string) => boolean;
}

/** What a client is made of. */
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
  /** Milliseconds from the last byte sent to the end of the response (D43). */
  readonly timeout?: number;
  readonly userAgent?: string;
  /** Called once with each different warning, of the server or about the outcome of a request. */
  readonly onWarning?: (warning: Warning) => void;
  readonly onRetry?: ExchangeContext['onRetry'];
  /** Called for every attempt, for `--verbose`: no values of the query, no bodies, no headers. */
  readonly onAttempt?: ExchangeContext['onAttempt'];
}

/** Query parameters by name; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** A request to the API; a POST of unknown outcome without `lookUp` fails (`network.outcome_unknown`). */
export interface ApiRequest extends WriteLookups {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Begins with `/api/v1`, parameters filled in. */
  readonly path: string;
  /** A function is called for every attempt. */
  readonly query?: Query | (() => Query) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A JSON value, or JSON text as a source of bytes that is opened anew for each attempt. */
  readonly body?: unknown;
  /** Key of a POST, made when absent; the same for every attempt (D46). */
  readonly idempotencyKey?: string | undefined;
  /** Repeating it does no harm whatever became of the first attempt. By default true for all methods but POST. */
  readonly repeatable?: boolean;
  /** Reads the envelope from a body in valid UTF-8, which it must not keep; `readEnvelope` where absent. */
  readonly read?: (body: Uint8Array) => Envelope | undefined | Promise<Envelope | undefined>;
  /** Called with the headers of a successful response before its body is read; again for each attempt. */
  readonly onHead?: OutgoingRequest['onHead'];
  /** Called right before the request is sent again. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A successful response. */
export interface ApiResponse {
  /** 404 only for a DELETE that was repeated because an earlier attempt may have been done: the record is gone. */
  readonly status: number;
  readonly data: unknown;
  readonly warnings: readonly Warning[];
  readonly meta: Readonly<Record<string, unknown>> | null;
  readonly requestId: string | null;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An attempt at `open` that failed, and that another one follows. */
export interface LostAttempt {
  /** Attempts in a row that failed, and how many there may be. */
  readonly failed: number;
  readonly attempts: number;
  readonly failure: Failure;
  /** Milliseconds that the server asked to wait. */
  readonly retryAfter: number | undefined;
}

/** The one client of the API: every request of every command goes through `request`. */
export class ApiClient {
  readonly baseUrl: string;
  readonly organization: string;
  private readonly context: ExchangeContext;
  private readonly newId: () => string;
  private readonly warned = new Set<string>();

  constructor(private readonly options: ClientOptions) {
    const { send, retry: policy, clock = systemClock, onRetry, onAttempt } = options;
    const { pacer = new Pacer(clock), random = Math.random, timeout = 90_000, newId = randomUUID } = options;
    this.context = { send, policy, pacer, clock, random, timeout, onRetry, onAttempt };
    this.baseUrl = options.baseUrl;
    this.organization = options.organization;
    this.newId = newId;
  }

  /** What this client, and whatever shares its pacer, sent so far. */
  get statistics(): TransferStatistics {
    return this.context.pacer.statistics;
  }

  /**
   * Sends a request with retries (contract §5) and reads the envelope. Throws an ApiFailure for any response but
   * success, and a Failure with exit code 8 when no complete response arrived.
   */
  async request(request: ApiRequest): Promise<ApiResponse> {
    const { method, repeatable = method !== 'POST', lookUp, checkDuplicates, onRetry, signal } = request;
    const key = method === 'POST' ? (request.idempotencyKey ?? this.newId()) : undefined;
    let afterUnknown = false;
    for (let renewed = false; ; renewed = true) {
      const token = await this.options.token.token(signal);
      const response = await exchange(this.context, {
        make: () => this.outgoing(request, token, key),
        ...{ repeatable, keyed: key !== undefined, lookUp, checkDuplicates, onRetry, signal },
        accept: request.read ?? ((body) => readEnvelope(bodyText(body))),
        isClear: lookUp && (({ data }) => isRecord(data)),
      });
      afterUnknown ||= response.afterUnknown;
      const isFinal = response.status !== 401 || renewed || !this.options.token.renew(token);
      if (isFinal) return this.finish(request, { ...response, afterUnknown });
    }
  }

  /**
   * Waits before `open` is tried again, and tells so as before any other retry: longer after each failure, and at least the
   * milliseconds that the server asked for, up to the limit of the policy. Rejects with the signal's reason.
   */
  waitToRetry({ failed, attempts, failure, retryAfter }: LostAttempt, signal: AbortSignal): Promise<void> {
    const { clock, policy, random, onRetry } = this.context;
    const wait = retryDelay(failed, policy, random, retryAfter);
    onRetry?.({ attempt: failed, attempts, wait, status: failure.status, reason: failure.message });
    return clock.sleep(wait, signal);
  }

  /**
   * Sends a GET whose response has no end, once, and gives the response with its body unread, whatever its status;
   * after a 401 once more where the token can be renewed. Rejects as `Send` does.
   */
  async open(request: Pick<ApiRequest, 'path' | 'headers' | 'signal'>): Promise<IncomingResponse> {
    const { send, onAttempt, clock } = this.context;
    for (let renewed = false; ; renewed = true) {
      const token = await this.options.token.token(request.signal);
      const outgoing = this.outgoing({ method: 'GET', ...request }, token, undefined);
      const started = clock.now();
      const response = await send(outgoing);
      const { status, headers } = response;
      const requestId = headers['x-request-id'] ?? null;
      const milliseconds = clock.now() - started;
      onAttempt?.({ method: 'GET', target: targetOf(outgoing.url), status, milliseconds, requestId });
      if (status !== 401 || renewed || !this.options.token.renew(token)) return response;
      // An unread response would hold its connection.
      await response.body[Symbol.asyncIterator]().return?.();
    }
  }

  /** Absolute URL of a path and its query. */
  urlOf(path: string, query: Query = {}): string {
    const text = Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
      .join('&');
    return `${this.baseUrl}${path}${text === '' ? '' : `?${text}`}`;
  }

  private outgoing(request: ApiRequest, token: string, key: string | undefined): OutgoingRequest {
    const { method, path, onHead, signal } = request;
    const query = typeof request.query === 'function' ? request.query() : request.query;
    const body = request.body === undefined ? undefined : outgoingBody(request.body);
    return {
      method,
      url: this.urlOf(path, query),
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
      ...{ onHead, signal },
      ...(body !== undefined && { body }),
    };
  }

  private finish(request: ApiRequest, response: ExchangeResponse<Envelope>): ApiResponse {
    const { status, headers, requestId, value, found } = response;
    const empty = { data: null, warnings: [], meta: null, requestId, headers };
    if (found !== undefined) return { ...empty, status: 200, data: found.data };
    for (const warning of value?.warnings ?? []) this.warn(warning);
    if (isSuccess(status) && value !== undefined) {
      const { data, warnings, meta } = value;
      return { status, data, warnings, meta, requestId, headers };
    }
    if (status === 404 && request.method === 'DELETE' && response.afterUnknown) return { ...empty, status };
    if (status >= 300 && status < 400) {
      const target = redirectTarget(headers.location, this.baseUrl);
      throw localFailure('response.redirect', `The server redirects to ${target} (HTTP ${status}).`, { requestId });
    }
    const failure = new ApiFailure(status, value?.errors ?? [], requestId);
    throw response.unknown === undefined ? failure : outcomeUnknown(failure, response.unknown.lookup);
  }

  /** Reports a warning, unless the same one was reported before. */
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
  const isByteSource = typeof body === 'object' && body !== null && 'open' in body && typeof body.open === 'function';
  return isByteSource ? (body as OutgoingBody) : JSON.stringify(body);
}

/** Origin and path that a `Location` header names, for people. */
export function redirectTarget(location: string | undefined, baseUrl: string): string {
  if (location === undefined || !URL.canParse(location, baseUrl)) return 'another address';
  const url = new URL(location, baseUrl);
  return url.origin + url.pathname;
}
