import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type Refusal, refusal } from '../../catalog/failures.ts';

/** Host and port of a URL: a name, an IPv4 address, or an IPv6 address in brackets. */
const HOST = /^(?:[\w-][\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** What a proxy says of the request that it passes on, and what each header must be, since links and logs repeat it. */
const FORWARDED = [
  ['x-forwarded-for', 'an address', (value: string) => isIP(value) !== 0],
  ['x-forwarded-proto', 'http or https', (value: string) => value === 'http' || value === 'https'],
  ['x-forwarded-host', 'a host', isHost],
] as const;

/**
 * What is wrong (400) with what a request says of where it was sent, and behind a proxy of where it came from: no host or
 * more than one (RFC 9112, 3.2), or something else than a host, an address or a protocol (contract §8).
 */
export function addressingProblem(request: IncomingMessage, behindProxy: boolean): Refusal | undefined {
  const { headers, httpVersion } = request;
  if (headers.host === undefined && httpVersion === '1.1') return malformed('Host', 'The Host header is missing.');
  // Of several, `headers` has the first; a proxy in front may have read another.
  if (countOf('host', request) > 1) return malformed('Host', 'The Host header is there more than once.');
  if (headers.host !== undefined && !isHost(headers.host)) return malformed('Host', 'The Host header must be a host.');
  if (!behindProxy) return undefined;
  for (const [name, what, fits] of FORWARDED) {
    const value = headers[name];
    // The last one is of the proxy in front; those before it are what it received.
    if (value !== undefined && !fits(String(value).split(',').at(-1)?.trim() ?? '')) {
      return malformed(name, `The header ${name} must be ${what}.`);
    }
  }
  return undefined;
}

function isHost(value: string): boolean {
  return HOST.test(value) && URL.canParse(`http://${value}`);
}

function countOf(name: string, { rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const found = rawHeaders[at] as string;
    if (found.length === name.length && found.toLowerCase() === name) count++;
  }
  return count;
}

function malformed(source: string, description: string): Refusal {
  return refusal('request.malformed', source, description);
}
