import type { Environment } from '../environment.ts';
import { localFailure } from '../failure.ts';
import { bareHost, isLoopback } from './address.ts';

/** The proxy that a request goes through, and the variable that says so. */
export interface ProxyInUse {
  readonly url: URL;
  readonly variable: string;
}

/**
 * The proxy for an address by HTTPS_PROXY, HTTP_PROXY and NO_PROXY, lower case first. This machine is never reached
 * through one: a token for it must not leave it. Throws a Failure (exit 2) when the variable holds no address.
 */
export function proxyFor(address: URL, env: Environment): ProxyInUse | undefined {
  if (isLoopback(address.hostname) || isExcluded(address, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  const given = (name: string) => (env[name] === undefined ? name.toUpperCase() : name);
  // Without a proxy for https the one for http is used.
  const names = address.protocol === 'https:' ? ['https_proxy', 'http_proxy'] : ['http_proxy'];
  const variable = names.map(given).find((name) => env[name]);
  return variable === undefined ? undefined : { url: readProxy(env[variable] ?? '', variable), variable };
}

/** `proxy.example.com:3128` is taken as curl takes it, for http://. */
function readProxy(text: string, variable: string): URL {
  const complete = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(complete) ? new URL(complete) : undefined;
  if (url !== undefined && /^(?:https?|socks5?):$/.test(url.protocol) && url.hostname !== '') return url;
  // The text is not repeated: it may hold a password.
  throw localFailure('usage.connection', `${variable} is set, but is not the address of a proxy.`, {
    source: variable,
    hint: `Write it like http://proxy.example.com:3128, or unset ${variable}.`,
  });
}

function isExcluded(address: URL, list: string): boolean {
  if (list === '*') return true;
  const host = bareHost(address.hostname.toLowerCase());
  const port = address.port || (address.protocol === 'https:' ? '443' : '80');
  return list
    .split(/[,\s]/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      // An IPv6 address has a port only behind brackets.
      const [, name = entry, only] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
      if (only !== undefined && only !== port) return false;
      const bare = bareHost(name.replace(/^\*?\./, '').toLowerCase());
      return host === bare || host.endsWith(`.${bare}`);
    });
}
