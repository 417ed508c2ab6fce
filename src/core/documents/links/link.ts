import { localFailure } from '../../failure.ts';
import { isLoopback } from '../../transport/address.ts';

/**
 * A download link that may be followed: at the API's own origin, https, or on this machine where the API is, too.
 * Throws a Failure with exit code 8 for any other, since the file would cross the network in the clear.
 */
export function readLink(link: unknown, baseUrl: string): URL {
  const url = typeof link === 'string' && URL.canParse(link) ? new URL(link) : undefined;
  if (url === undefined) throw localFailure('response.malformed', 'The server gave no download link for this file.');
  const base = new URL(baseUrl);
  const safe = url.protocol === 'https:' || url.origin === base.origin || (isHere(url) && isHere(base));
  if (safe && url.username === '' && url.password === '') return url;
  const message = `The download link points to ${url.protocol}//${url.host}, which is neither the server itself nor https.`;
  throw localFailure('response.malformed', message, {
    hint: 'Report it to the operator of the server; the link was not followed.',
  });
}

/** Whether an address is on this machine, where nothing crosses a network: files may have a server of their own there. */
function isHere({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && isLoopback(hostname);
}
