import { localFailure } from '../../failure.ts';

/**
 * A download link that may be followed: at the API's own origin, or https. Throws a Failure with exit code 8 for any
 * other, since the file would cross the network in the clear or from a place nobody named.
 */
export function readLink(link: unknown, baseUrl: string): URL {
  const url = typeof link === 'string' && URL.canParse(link) ? new URL(link) : undefined;
  if (url === undefined) throw localFailure('response.malformed', 'The server gave no download link for this file.');
  const safe = url.protocol === 'https:' || url.origin === new URL(baseUrl).origin;
  if (safe && url.username === '' && url.password === '') return url;
  const message = `The download link points to ${url.protocol}//${url.host}, which is neither the server itself nor https.`;
  throw localFailure('response.malformed', message, {
    hint: 'Report it to the operator of the server; the link was not followed.',
  });
}
