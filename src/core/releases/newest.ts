import { EXIT } from '../../catalog/failures.ts';
import { LinkedAbort } from '../abort.ts';
import { Failure, localFailure } from '../failure.ts';
import { ConnectionFailure, type IncomingResponse, type Send } from '../transport/send.ts';
import { wrongReleases } from './address.ts';

/** Milliseconds for the whole answer. */
const TIMEOUT = 5000;
const MAX_BYTES = 65_536;
const MAX_REDIRECTS = 5;

const ARCHIVE = /^[0-9a-f]{64} [ *]molar-(\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?)-(?:linux|macos|windows)-(?:x64|arm64)\./;

/**
 * The version that is published at an address: that of the archives in its SHA256SUMS. Sends one GET, with nothing in it
 * about this machine or who asks. Throws a Failure: exit 8 without an answer in five seconds or for one that is no such
 * list, 4 where there is none.
 */
export async function newestVersion(releases: string, send: Send, signal: AbortSignal): Promise<string> {
  const url = `${releases}/SHA256SUMS`;
  // Not AbortSignal.timeout: combined with another it may be collected as garbage before its time (nodejs/node#57736).
  const limited = new LinkedAbort(signal);
  const timer = setTimeout(() => limited.abort(), TIMEOUT);
  const text = await fetched(url, send, limited.signal)
    .catch((cause) => {
      signal.throwIfAborted();
      if (cause instanceof Failure) throw cause;
      const message = cause instanceof ConnectionFailure ? cause.message : `${url} was not sent within 5 seconds.`;
      throw localFailure('network.unreachable', message, { cause });
    })
    .finally(() => {
      clearTimeout(timer);
      limited.release();
    });
  const versions = new Set(text.split(/\r?\n/).flatMap((line) => ARCHIVE.exec(line)?.[1] ?? []));
  const [version] = versions;
  if (version !== undefined && versions.size === 1) return version;
  const found = versions.size === 0 ? 'no archive of molar' : `archives of ${versions.size} versions`;
  throw localFailure('response.malformed', `${url} lists ${found}.`, {
    hint: 'Check MOLAR_RELEASES (or the config key releases): it is the address molar was downloaded from.',
  });
}

/** The text at an address; redirects lead to https, or to this machine. */
async function fetched(address: string, send: Send, signal: AbortSignal): Promise<string> {
  let url = address;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await send({ method: 'GET', url, headers: { accept: 'text/plain, */*' }, signal });
    const text = await textOf(response);
    const { location } = response.headers;
    const isRedirect = response.status >= 300 && response.status < 400 && location !== undefined;
    if (response.status === 200) return text;
    if (!isRedirect) throw refused(address, response.status);
    const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
    if (next === undefined || wrongReleases(next.origin) !== undefined) {
      throw localFailure('response.redirect', `${address} leads to an address that is not https.`);
    }
    url = next.href;
  }
  throw localFailure('response.redirect', `${address} leads from one address to the next.`);
}

function refused(address: string, status: number): Failure {
  return new Failure(`${address} could not be read (HTTP ${status}).`, {
    code: `http.${status}`,
    exitCode: status === 404 ? EXIT.notFound : EXIT.network,
    status,
    hint: 'Check MOLAR_RELEASES (or the config key releases): it is the address molar was downloaded from.',
  });
}

async function textOf({ body }: IncomingResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw localFailure('response.malformed', 'The list of releases is larger than 64 KiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Whether version `a` comes after version `b`; `1.2.0-rc.1` comes before `1.2.0`. */
export function isLater(a: string, b: string): boolean {
  const [coreA = '', ...previewA] = a.split('-');
  const [coreB = '', ...previewB] = b.split('-');
  const byNumber = (x: string, y: string) => x.localeCompare(y, 'en', { numeric: true });
  const order = byNumber(coreA, coreB);
  if (order !== 0) return order > 0;
  if (previewA.length === 0 || previewB.length === 0) return previewA.length === 0 && previewB.length > 0;
  return byNumber(previewA.join('-'), previewB.join('-')) > 0;
}
