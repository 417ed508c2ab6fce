import { EXIT } from '../../catalog/failures.ts';
import { findCredential } from '../connection/credentials.ts';
import {
  type ConnectionFlags,
  type ConnectionSettings,
  type Environment,
  readSettings,
} from '../connection/settings.ts';
import { codeOf, Failure } from '../failure.ts';
import { isPrivate } from '../profiles/config.ts';
import { isLoopback } from '../transport/address.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient } from '../transport/client.ts';
import { type CertificateFacts, judgeCertificate, noCertificate } from './certificate.ts';
import { doubtful, type Finding, failed, fine } from './finding.ts';
import { type Probed, probeScopes } from './probes.ts';
import { type ProxyInUse, proxyFor } from './proxy.ts';

/** The last answer of the server, whatever it was. */
export interface Heard {
  readonly headers: Readonly<Record<string, string>>;
  /** UTC milliseconds at which it came. */
  readonly at: number;
}

/** What the checks need of the world. */
export interface Doctor {
  readonly flags: ConnectionFlags;
  readonly env: Environment;
  readonly versions: { readonly molar: string; readonly node: string };
  readonly lookup: (host: string) => Promise<readonly string[]>;
  readonly inspect: (address: URL, proxy: ProxyInUse | undefined) => Promise<CertificateFacts>;
  readonly connect: () => Promise<ApiClient>;
  readonly heard: () => Heard | undefined;
  readonly signal: AbortSignal;
}

/** Every check in the order in which one needs the other; ends early where nothing more can be tried. */
export async function* diagnose(doctor: Doctor): AsyncGenerator<Finding> {
  yield versions(doctor);
  const configured = configuration(doctor);
  yield configured.finding;
  const { settings } = configured;
  if (settings === undefined) return;
  if (settings.profile !== undefined) yield privacyFinding(settings.profile.path);
  const address = new URL(settings.baseUrl);
  const proxy = proxyFor(address, doctor.env);
  yield proxyFinding(address, proxy);
  const name = await nameFinding(address, proxy, doctor);
  yield name;
  if (name.level === 'fail') return;
  yield await tlsFinding(address, proxy, doctor);
  yield* await serverFindings(settings, doctor);
}

function versions({ versions: { molar, node } }: Doctor): Finding {
  const message = `molar ${molar} on Node ${node}.`;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return fine('versions', message);
  return doubtful('versions', message, 'molar needs Node 20.19 or newer; install a newer one.');
}

function configuration({ flags, env }: Doctor): { finding: Finding; settings?: ConnectionSettings } {
  try {
    const settings = readSettings(flags, env);
    const { source } = findCredential(flags, env, settings);
    const { baseUrl, organization, sources } = settings;
    const message = `Server ${baseUrl} (${sources?.url}), organization ${organization} (${sources?.organization}), token from ${source}.`;
    return { finding: fine('configuration', message), settings };
  } catch (cause) {
    if (cause instanceof Failure) return { finding: failed('configuration', cause) };
    throw cause;
  }
}

function privacyFinding(path: string): Finding {
  if (isPrivate(path)) return fine('profiles', `Only you can read ${path}.`);
  const message = `Others on this computer can read ${path}, which holds secrets.`;
  return doubtful(
    'profiles',
    message,
    `Run chmod 600 '${path}', and replace the tokens in it if others may have seen them.`,
  );
}

function proxyFinding(address: URL, proxy: ProxyInUse | undefined): Finding {
  // Not the whole address of the proxy: it may hold a password.
  if (proxy !== undefined) return fine('proxy', `Requests go through ${proxy.url.host} (${proxy.variable}).`);
  return fine('proxy', isLoopback(address.hostname) ? 'None: the server is on this machine.' : 'None.');
}

async function nameFinding(address: URL, proxy: ProxyInUse | undefined, { lookup }: Doctor): Promise<Finding> {
  const { hostname } = proxy?.url ?? address;
  const host = hostname.replace(/^\[|\]$/g, '');
  const what = proxy === undefined ? host : `The proxy ${host}`;
  try {
    return fine('name', `${what} is ${(await lookup(host)).join(', ')}.`);
  } catch (cause) {
    const again = codeOf(cause) === 'EAI_AGAIN';
    return failed('name', {
      message: again ? `The name server does not answer for ${host}.` : `There is no host ${host}.`,
      hint: again
        ? 'Check the network connection, VPN and DNS settings.'
        : `Check the spelling of ${proxy?.variable ?? 'the address (MOLAR_URL, --url)'}, and whether a VPN is needed.`,
      exitCode: EXIT.network,
    });
  }
}

async function tlsFinding(address: URL, proxy: ProxyInUse | undefined, { inspect }: Doctor): Promise<Finding> {
  if (address.protocol === 'http:') {
    if (isLoopback(address.hostname)) return fine('tls', 'Plain http://, on this machine only.');
    return doubtful('tls', 'Plain http://: the token travels unencrypted.', 'Use https://.');
  }
  return inspect(address, proxy).then(
    (facts) => judgeCertificate(address.host, facts),
    (cause: unknown) => noCertificate(address.host, cause),
  );
}

async function serverFindings(settings: ConnectionSettings, doctor: Doctor): Promise<readonly Finding[]> {
  const about: Finding[] = [];
  try {
    const probed = await probeScopes(await doctor.connect(), doctor.signal);
    about.push(
      fine('token', 'The server accepts the token.'),
      fine('organization', `The token may work for organization ${settings.organization}.`),
      ...probed.map(scopeFinding),
    );
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    about.push(...refusedFindings(cause));
  }
  const heard = doctor.heard();
  return heard === undefined ? about : [...about, clockFinding(heard), rateFinding(heard)];
}

function scopeFinding({ scope, allowed, failure }: Probed): Finding {
  if (allowed) return fine('scope', `The token has ${scope}.`);
  const message = `The token lacks ${scope}. ${failure?.message ?? ''}`.trim();
  if (scope === 'model:read') {
    return failed('scope', { message, hint: 'Use a token with this scope.', exitCode: EXIT.auth });
  }
  return doubtful('scope', message, `Commands that need ${scope} will be refused; use a token with it.`);
}

/** What failed, by the exit code of a failure that is not an answer of the API. */
const CHECKS: Readonly<Record<number, string>> = { [EXIT.network]: 'server', [EXIT.auth]: 'token' };

function refusedFindings(cause: Failure): readonly Finding[] {
  if (!(cause instanceof ApiFailure)) return [failed(CHECKS[cause.exitCode] ?? 'configuration', cause)];
  if (cause.status === 401) return [failed('token', cause)];
  if (cause.status === 403) return [fine('token', 'The server accepts the token.'), failed('organization', cause)];
  if (cause.status !== 404) return [failed('server', cause)];
  const hint = 'Check the address (MOLAR_URL, --url): it is what stands before /api/v1.';
  return [failed('server', { message: `${cause.message} This is not the API.`, hint, exitCode: cause.exitCode })];
}

/** Seconds that clocks may differ before it is worth a word. */
const TOLERANCE = 60;

function clockFinding({ headers, at }: Heard): Finding {
  const told = Date.parse(headers.date ?? '');
  if (Number.isNaN(told)) return fine('clock', 'The server does not tell its time.');
  const seconds = Math.round((at - told) / 1000);
  const message = `This computer's clock is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} the server's.`;
  if (Math.abs(seconds) <= TOLERANCE) return fine('clock', message);
  return doubtful('clock', message, 'Set the clock, best by network time: tokens and --since-last go by it.');
}

function rateFinding({ headers }: Heard): Finding {
  const left = headers['ratelimit-remaining'] ?? headers['x-ratelimit-remaining'];
  if (left === undefined) return fine('rate limit', 'The server does not tell how many requests are left.');
  const limit = headers['ratelimit-limit'] ?? headers['x-ratelimit-limit'];
  const message = `${left}${limit === undefined ? '' : ` of ${limit}`} requests are left.`;
  if (Number(left) > 0) return fine('rate limit', message);
  return doubtful('rate limit', message, 'Wait a little, or run fewer commands at a time.');
}
