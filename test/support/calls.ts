import type { FastifyInstance, InjectOptions } from 'fastify';
import { ORGANIZATION, TOKENS } from './ids.ts';

/** A record as it stands on the wire. */
export type WireRecord = Readonly<Record<string, unknown>>;

interface WireProblem {
  readonly code: string;
  readonly title: string;
  readonly description: string;
  readonly source: string | null;
}

interface Envelope {
  readonly statusCode?: number;
  readonly data: unknown;
  readonly warnings: readonly Omit<WireProblem, 'code'>[];
  readonly errors: readonly WireProblem[];
  readonly meta?: { readonly pagination: Readonly<Record<string, number>> };
}

/** An answer: `body` is its JSON, undefined when it is none. */
export interface Called {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly bytes: Buffer;
  readonly body: Envelope;
}

export interface CallOptions {
  /** Sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** null: no Authorization header. */
  readonly token?: string | null;
  /** null: no Organization-ID header. */
  readonly organization?: string | null;
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Called>;

/** Calls an app under `/api/v1`, or anywhere when the path begins with a second slash or is an absolute URL. */
export function caller(app: FastifyInstance, faults: unknown[]): Call {
  return async (method, path, options = {}) => {
    const { token = TOKENS.full, organization = ORGANIZATION } = options;
    const headers: Record<string, string> = {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(organization !== null && { 'organization-id': organization }),
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    };
    const response = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: urlOf(path, options.query),
      headers,
      ...(options.body !== undefined && { payload: payloadOf(options.body) }),
    });
    const fault = faults.pop();
    if (response.statusCode === 500) throw fault;
    return {
      status: response.statusCode,
      headers: response.headers as Called['headers'],
      text: response.body,
      bytes: response.rawPayload,
      body: parsed(response.body),
    };
  };
}

function urlOf(path: string, query: CallOptions['query'] = {}): string {
  const url = new URL(path.startsWith('/') ? `http://localhost${path}` : path);
  if (path.startsWith('//')) url.href = `http://localhost${path.slice(1)}`;
  else if (path.startsWith('/')) url.href = `http://localhost/api/v1${path}`;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item) => `${name}=${encodeURIComponent(String(item))}`),
  );
  const extra = pairs.join('&');
  if (extra === '') return url.pathname + url.search;
  return `${url.pathname}${url.search === '' ? '?' : `${url.search}&`}${extra}`;
}

function payloadOf(body: unknown): string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}

function parsed(text: string): Envelope {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return { data: undefined, warnings: [], errors: [] };
  }
}

/** `data` of a list. */
export function rowsOf(called: Called): WireRecord[] {
  if (!Array.isArray(called.body.data))
    throw new Error(`data is no array: ${called.status} ${called.text.slice(0, 500)}`);
  return called.body.data as WireRecord[];
}

/** `data` of a single record. */
export function rowOf(called: Called): WireRecord {
  const { data } = called.body;
  if (typeof data !== 'object' || data === null)
    throw new Error(`data is no record: ${called.status} ${called.text.slice(0, 500)}`);
  return data as WireRecord;
}

export function idsOf(called: Called): unknown[] {
  return rowsOf(called).map((record) => record.id);
}

/** Where the errors of an answer point, in their order. */
export function sourcesOf(called: Called): (string | null)[] {
  return called.body.errors.map((error) => error.source);
}

/** Status, codes and sources of a refusal, for comparison as a whole. */
export function refusalOf(called: Called): { status: number; errors: string[] } {
  return { status: called.status, errors: called.body.errors.map((error) => `${error.code} ${error.source}`) };
}

export function warningSources(called: Called): (string | null)[] {
  return called.body.warnings.map((warning) => warning.source);
}
