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
  observedBody,
  type Send,
} from './send.ts';

/** Options of the network. */
export interface NetworkOptions {
  /** Certificates in PEM that are trusted besides Node's own. */
  readonly certificates?: readonly string[];
  /** Milliseconds to make a connection. */
  readonly connectTimeout?: number;
  /** The proxy for an address; none is used without it. What it throws ends the request. */
  readonly proxyFor?: (address: URL) => ProxyInUse | undefined;
}

/** `send` over the network, and `close` for its connections. */
export interface Network {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/** The network through undici, loaded at the first request. Redirects are not followed. */
export function openNetwork(options: NetworkOptions = {}): Network {
  let loading: ReturnType<typeof loadDispatchers> | undefined;
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

async function loadDispatchers({ certificates = [], connectTimeout = 10_000 }: NetworkOptions) {
  const { Agent, ProxyAgent, request } = await import('./undici.ts');
  // Own certificates replace Node's list, so Node's are put back beside them.
  const ca = certificates.length > 0 && [...(await import('node:tls')).rootCertificates, ...certificates];
  // undici does not close a connection that is still being made before its timeout.
  const closing = new AbortController();
  // Every connection listens to it.
  setMaxListeners(0, closing.signal);
  const own = { signal: closing.signal, ...(ca && { ca }) };
  const connect = { timeout: connectTimeout, ...own };
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
    of: (proxy: ProxyInUse | undefined): Dispatcher => (proxy === undefined ? direct : through(proxy)),
    close: async () => {
      const closed = [direct, ...proxies.values()].map((agent) => agent.destroy());
      closing.abort();
      await Promise.all(closed);
    },
  };
}

async function exchange(
  network: Awaited<ReturnType<typeof loadDispatchers>>,
  outgoing: OutgoingRequest,
  proxy: ProxyInUse | undefined,
): Promise<IncomingResponse> {
  const url = new URL(outgoing.url);
  const body = outgoing.body === undefined ? undefined : counted(outgoing.body);
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

/** A body for undici that knows whether all of it was handed over; text goes out at once. */
function counted(body: OutgoingBody) {
  if (typeof body === 'string') return { length: Buffer.byteLength(body), content: body, done: true };
  let sent = 0;
  const onChunk = ({ byteLength }: Uint8Array) => {
    sent += byteLength;
    // Set before the last chunk is handed over: from then on the server may have everything.
    if (sent >= body.length) result.done = true;
  };
  // undici accepts an iterable though its types do not say so; a stream around it would be slower.
  const content = observedBody(body.open(), { onChunk }) as unknown as Readable;
  const result = { length: body.length, content, done: false };
  return result;
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const pairs = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
  );
}

const CONNECTING = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** Whether no connection was made: nothing of the request can have arrived. */
function isBeforeSending(cause: unknown): boolean {
  const code = codeOf(cause) ?? '';
  const connecting = typeof cause === 'object' && cause !== null && 'syscall' in cause && cause.syscall === 'connect';
  return connecting || proxyRefusal(cause) !== undefined || CONNECTING.includes(code) || /CERT|SSL|TLS/.test(code);
}

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused',
  ENOTFOUND: 'Unknown host',
  EAI_AGAIN: 'DNS lookup failed',
  EHOSTUNREACH: 'Host unreachable',
  ENETUNREACH: 'Network unreachable',
  ETIMEDOUT: 'Connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'Connection timed out',
  ECONNRESET: 'Connection lost',
  EPIPE: 'Connection lost',
  UND_ERR_SOCKET: 'Connection lost',
  ERR_SSL_WRONG_VERSION_NUMBER: 'Not an https:// server',
  UND_ERR_HEADERS_OVERFLOW: 'Response headers too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'Response length differs from its Content-Length',
};

function describe(cause: unknown, url: URL, proxy: ProxyInUse | undefined): string {
  // Node reports one failure for each of several addresses.
  const code = codeOf(cause) ?? codeOf(cause instanceof AggregateError ? cause.errors[0] : undefined) ?? '';
  const meaning = MEANINGS[code];
  const through = proxy && `${proxy.url.host}, the proxy of ${proxy.variable}`;
  const status = proxyRefusal(cause);
  if (status !== undefined) return `Proxy refused the connection to ${url.host}: ${through} (HTTP ${status}).`;
  // With a proxy, only the connection to the proxy itself can fail to be made.
  if (meaning !== undefined) return `${meaning}: ${(CONNECTING.includes(code) && through) || url.host}.`;
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)) return `Certificate not trusted: ${url.host} (${code}).`;
  if (cause instanceof Error && cause.name === 'HTTPParserError') return `Response is not HTTP: ${url.host}.`;
  return `No response: ${url.host}${code === '' ? '' : ` (${code})`}.`;
}

/** The status with which a proxy refused a tunnel, as undici words it. */
function proxyRefusal(cause: unknown): string | undefined {
  return cause instanceof Error ? /^Proxy response \((\d+)\)/.exec(cause.message)?.[1] : undefined;
}
