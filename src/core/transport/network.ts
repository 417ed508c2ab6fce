import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import type { Agent as AgentOptions, Dispatcher } from 'undici';
import { codeOf } from '../failure.ts';
import type { ProxyInUse } from './proxy.ts';
import {
  ConnectionFailure,
  type IncomingResponse,
  type OutgoingBody,
  type OutgoingRequest,
  type Send,
} from './send.ts';
import { watchedBody } from './watchedbody.ts';

export interface NetworkOptions {
  /** Certificates in PEM that are trusted besides the usual ones. */
  readonly certificates?: readonly string[];
  /** Milliseconds until a connection must stand. */
  readonly connectTimeout?: number;
  /** The proxy for an address; without it none is used. What it throws ends the request. */
  readonly proxyFor?: (address: URL) => ProxyInUse | undefined;
}

/** `send` over the network, and `close` to let go of its connections. */
export interface Network {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/**
 * The network through undici, loaded at the first request. Redirects are not followed.
 */
export function openNetwork(options: NetworkOptions = {}): Network {
  let loading: Promise<Dispatchers> | undefined;
  const load = () => (loading ??= loadDispatchers(options));
  return {
    send: async (request) => {
      const proxy = options.proxyFor?.(new URL(request.url));
      return exchange(await load(), request, proxy);
    },
    close: async () => {
      if (loading !== undefined) await (await loading).close();
    },
  };
}

interface Dispatchers {
  readonly request: typeof import('undici').request;
  readonly of: (proxy: ProxyInUse | undefined) => Dispatcher;
  readonly close: () => Promise<void>;
}

async function loadDispatchers(options: NetworkOptions): Promise<Dispatchers> {
  const { Agent, ProxyAgent, request } = await import('./undici.ts');
  const ca = await trusted(options.certificates ?? []);
  // undici lets go of a connection that does not stand yet only when its time is over.
  const closing = new AbortController();
  // Every connection listens to it.
  setMaxListeners(0, closing.signal);
  const own = { signal: closing.signal, ...(ca && { ca }) };
  const connect = { timeout: options.connectTimeout ?? 10_000, ...own };
  // The client has a deadline of its own that does not count the time an upload takes.
  const common = { connect, headersTimeout: 0, bodyTimeout: 0 } satisfies AgentOptions.Options;
  const direct = new Agent(common);
  const proxies = new Map<string, Dispatcher>();
  const through = ({ url: { href } }: ProxyInUse) => {
    const agent = proxies.get(href) ?? new ProxyAgent({ ...common, requestTls: own, proxyTls: own, uri: href });
    proxies.set(href, agent);
    return agent;
  };
  return {
    request,
    of: (proxy) => (proxy === undefined ? direct : through(proxy)),
    close: async () => {
      const closed = [direct, ...proxies.values()].map((agent) => agent.destroy());
      closing.abort();
      await Promise.all(closed);
    },
  };
}

/** Own certificates replace Node's list, so the usual ones are put back beside them. */
async function trusted(certificates: readonly string[]): Promise<string[] | undefined> {
  if (certificates.length === 0) return undefined;
  const { rootCertificates } = await import('node:tls');
  return [...rootCertificates, ...certificates];
}

async function exchange(
  network: Dispatchers,
  outgoing: OutgoingRequest,
  proxy: ProxyInUse | undefined,
): Promise<IncomingResponse> {
  const url = new URL(outgoing.url);
  const body = outgoing.body === undefined ? undefined : new CountedBody(outgoing.body);
  try {
    const response = await network.request(url, {
      dispatcher: network.of(proxy),
      method: outgoing.method as Dispatcher.HttpMethod,
      headers: { ...outgoing.headers, ...(body && { 'content-length': String(body.length) }) },
      ...(body && { body: body.content }),
      ...(outgoing.signal && { signal: outgoing.signal }),
    });
    return { status: response.statusCode, headers: flat(response.headers), body: response.body };
  } catch (cause) {
    const sent = !isBeforeSending(cause) && (body === undefined || body.done);
    throw new ConnectionFailure(describe(cause, url, proxy), { sent, cause });
  }
}

/** A body that knows whether all of it was handed over. Text goes out at once, so it counts as handed over. */
class CountedBody {
  readonly length: number;
  /** An iterable, which undici takes like a stream and its types do not know; a stream around it takes its time. */
  readonly content: string | Readable;
  done: boolean;

  constructor(body: OutgoingBody) {
    this.done = typeof body === 'string';
    this.length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.content = typeof body === 'string' ? body : (this.count(body.open()) as unknown as Readable);
  }

  private count(body: AsyncIterable<Uint8Array>) {
    let given = 0;
    const piece = ({ byteLength }: Uint8Array) => {
      given += byteLength;
      // Set before the last piece is handed over: from then on the server may have everything.
      if (given >= this.length) this.done = true;
    };
    return watchedBody(body, { piece });
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
  return connecting || proxyRefusal(cause) !== undefined || CONNECTING.includes(code) || /CERT|SSL|TLS/.test(code);
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
  ERR_SSL_WRONG_VERSION_NUMBER: 'There is no https:// at',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too large from',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'Another length than announced came from',
};

function describe(cause: unknown, url: URL, proxy: ProxyInUse | undefined): string {
  const code = codeOf(cause) ?? codeOf(firstOf(cause)) ?? '';
  const meaning = MEANINGS[code];
  const by = proxy === undefined ? '' : `${proxy.url.host}, the proxy of ${proxy.variable}`;
  const status = proxyRefusal(cause);
  if (status !== undefined) return `No way to ${url.host}: ${by}, refuses it with HTTP ${status}.`;
  // With a proxy the only connection that can fail to stand is the one to it.
  if (meaning !== undefined) return `${meaning} ${by !== '' && CONNECTING.includes(code) ? by : url.host}.`;
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code))
    return `The certificate of ${url.host} is not trusted (${code}).`;
  if (cause instanceof Error && cause.name === 'HTTPParserError') return `What came from ${url.host} is not HTTP.`;
  return `No answer from ${url.host}${code === '' ? '' : ` (${code})`}.`;
}

/** The status with which a proxy answered instead of making a way through, as undici words it. */
function proxyRefusal(cause: unknown): string | undefined {
  return cause instanceof Error ? /^Proxy response \((\d+)\)/.exec(cause.message)?.[1] : undefined;
}

/** Of several addresses tried, Node reports one failure each. */
function firstOf(cause: unknown): unknown {
  return cause instanceof AggregateError ? cause.errors[0] : undefined;
}
