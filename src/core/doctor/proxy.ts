import type { Environment } from '../connection/settings.ts';
import { isLoopback } from '../transport/address.ts';

/** The proxy that a request goes through, and the variable that says so. */
export interface ProxyInUse {
  readonly url: URL;
  readonly variable: string;
}

/** The proxy for an address, chosen as the network chooses it: lower case first, NO_PROXY and loopback left out. */
export function proxyFor(address: URL, env: Environment): ProxyInUse | undefined {
  if (isLoopback(address.hostname) || isExcluded(address, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  const given = (name: string) => (env[name] === undefined ? name.toUpperCase() : name);
  // Without a proxy for https the one for http is used.
  const names = address.protocol === 'https:' ? ['https_proxy', 'http_proxy'] : ['http_proxy'];
  const variable = names.map(given).find((name) => env[name]);
  const text = variable === undefined ? undefined : env[variable];
  if (variable === undefined || text === undefined || !URL.canParse(text)) return undefined;
  return { url: new URL(text), variable };
}

function isExcluded(address: URL, list: string): boolean {
  if (list === '*') return true;
  const host = address.hostname.toLowerCase();
  const port = address.port || (address.protocol === 'https:' ? '443' : '80');
  return list
    .split(/[,\s]/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = entry, only] = /^(.+):(\d+)$/.exec(entry) ?? [];
      if (only !== undefined && only !== port) return false;
      const bare = name.replace(/^\*?\./, '').toLowerCase();
      return host === bare || host.endsWith(`.${bare}`);
    });
}
