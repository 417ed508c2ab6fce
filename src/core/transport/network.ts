import { Readable } from 'node:stream';
import type { Agent as AgentOptions, Dispatcher } from 'undici';
import { codeOf } from '../failure.ts';
import { isLoopback } from './address.ts';
import {
  ConnectionFailure,
  type IncomingResponse,
  type OutgoingBody,
  type OutgoingRequest,
  type Send,
} from './send.ts';

export interface NetworkOptions {
  /** Certificates in PEM that are trusted besides the usual ones. */
  readonly certificates?: readonly string[];
  /** Milliseconds until a connection must stand. */
  readonly connectTimeout?: number;
}

/** `send` over the network, and `close` to let go of its connections. */
export interface Network {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/**
 * The network through undici, loaded at the first request. Proxies come from HTTP_PROXY, HTTPS_PROXY and NO_PROXY,
 * loopback never goes through one: a token for it must not leave the machine. Redirects are not followed.
 */
export function openNetwork(options: NetworkOptions = {}): Network {
  let loading: Promise<Dispatchers> | undefined;
  const load = () => (loading ??= loadDispatchers(options));
  return {
    send: async (request) => exchange(await load(), request),
    close: async () => {
      if (loading !== undefined) await (await loading).close();
    },
  };
}

interface Dispatchers {
  readonly request: typeof import('undici').request;
  readonly of: (host: string) => Dispatcher;
  readonly close: () => Promise<void>;
}

async function loadDispatchers(options: NetworkOptions): Promise<Dispatchers> {
  const { Agent, EnvHttpProxyAgent, request } = await import('undici');
  const ca = await trusted(options.certificates ?? []);
  const connect = { timeout: options.connectTimeout ?? 10_000, ...(ca && { ca }) };
  // The client has a deadline of its own that does not count the time an upload takes.
  const common = { connect, headersTimeout: 0, bodyTimeout: 0 } satisfies AgentOptions.Options;
  const direct = new Agent(common);
  const outside = new EnvHttpProxyAgent({ ...common, ...(ca && { requestTls: { ca }, proxyTls: { ca } }) });
  return {
    request,
    of: (host) => (isLoopback(host) ? direct : outside),
    close: async () => {
      await Promise.all([direct.destroy(), outside.destroy()]);
    },
  };
}

/** Own certificates replace Node's list, so the usual ones are put back beside them. */
async function trusted(certificates: readonly string[]): Promise<string[] | undefined> {
  if (certificates.length === 0) return undefined;
  const { rootCertificates } = await import('node:tls');
  return [...rootCertificates, ...certificates];
}

async function exchange(network: Dispatchers, outgoing: OutgoingRequest): Promise<IncomingResponse> {
  const url = new URL(outgoing.url);
  const body = outgoing.body === undefined ? undefined : new CountedBody(outgoing.body);
  try {
    const response = await network.request(url, {
      dispatcher: network.of(url.hostname),
      method: outgoing.method as Dispatcher.HttpMethod,
      headers: { ...outgoing.headers, ...(body && { 'content-length': String(body.length) }) },
      ...(body && { body: body.content }),
      ...(outgoing.signal && { signal: outgoing.signal }),
    });
    return { status: response.statusCode, headers: flat(response.headers), body: response.body };
  } catch (cause) {
    const sent = !isBeforeSending(cause) && (body === undefined || body.done);
    throw new ConnectionFailure(describe(cause, url), { sent, cause });
  }
}

/** A body that knows whether all of it was handed over. Text goes out at once, so it counts as handed over. */
class CountedBody {
  readonly length: number;
  readonly content: string | Readable;
  done: boolean;

  constructor(body: OutgoingBody) {
    this.done = typeof body === 'string';
    this.length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.content = typeof body === 'string' ? body : Readable.from(this.count(body.open()), { objectMode: false });
  }

  private async *count(chunks: AsyncIterable<Uint8Array>) {
    let given = 0;
    for await (const chunk of chunks) {
      given += chunk.byteLength;
      // Set before the last chunk is handed over: from then on the server may have everything.
      if (given >= this.length) this.done = true;
      yield chunk;
    }
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const pairs = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
  );
}

const CONNECTING = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** Whether the connection never stood: nothing of the request can have arrived. */
function isBeforeSending(cause: unknown): boolean {
  const code = codeOf(cause) ?? '';
  const connecting = typeof cause === 'object' && cause !== null && 'syscall' in cause && cause.syscall === 'connect';
  return connecting || CONNECTING.includes(code) || /CERT|SSL|TLS/.test(code);
}

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing answers at',
  ENOTFOUND: 'There is no host',
  EAI_AGAIN: 'The name server does not answer for',
  EHOSTUNREACH: 'There is no way to',
  ENETUNREACH: 'There is no way to',
  ETIMEDOUT: 'The connection timed out to',
  UND_ERR_CONNECT_TIMEOUT: 'The connection timed out to',
  ECONNRESET: 'The connection was cut by',
  EPIPE: 'The connection was cut by',
  UND_ERR_SOCKET: 'The connection was cut by',
};

function describe(cause: unknown, url: URL): string {
  const code = codeOf(cause) ?? codeOf(firstOf(cause)) ?? '';
  const meaning = MEANINGS[code];
  if (meaning !== undefined) return `${meaning} ${url.host}.`;
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code))
    return `The certificate of ${url.host} is not trusted (${code}).`;
  return `No answer from ${url.host}${code === '' ? '' : ` (${code})`}.`;
}

/** Of several addresses tried, Node reports one failure each. */
function firstOf(cause: unknown): unknown {
  return cause instanceof AggregateError ? cause.errors[0] : undefined;
}
