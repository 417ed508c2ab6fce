import { EXIT } from '../../catalog/failures.ts';
import { hasModes } from '../../filesystem/private.ts';
import { type Credential, findCredential } from '../connection/credentials.ts';
import { type ConnectionFlags, type ConnectionSettings, readSettings } from '../connection/settings.ts';
import type { TokenFacts } from '../connection/tokenfacts.ts';
import { momentText, spanText } from '../count.ts';
import type { Environment } from '../environment.ts';
import { codeOf, Failure } from '../failure.ts';
import { isPrivate } from '../profiles/config.ts';
import { bareHost, isLoopback } from '../transport/address.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient } from '../transport/client.ts';
import { type ProxyInUse, proxyFor } from '../transport/proxy.ts';
import { type CertificateFacts, certificateUnknown, judgeCertificate } from './certificate.ts';
import { type Finding, failed, passed, warning } from './finding.ts';
import { clockAhead, type LastResponse, rateLeft } from './lastresponse.ts';
import { type ProbeResult, probeScopes } from './probes.ts';

type KnownToken = TokenFacts & { readonly renewed: boolean };

/** What the checks need from outside. */
export interface Doctor {
  readonly flags: ConnectionFlags;
  readonly env: Environment;
  /** `origin` is what molar came in where npm did not install it, such as `archive molar-0.1.0-linux-x64`. */
  readonly versions: { readonly molar: string; readonly node: string; readonly origin?: string | undefined };
  readonly lookup: (host: string) => Promise<readonly string[]>;
  readonly inspect: (address: URL, proxy: ProxyInUse | undefined) => Promise<CertificateFacts>;
  readonly connect: () => Promise<ApiClient>;
  readonly lastResponse: () => LastResponse | undefined;
  /** What is known of the token, once it was read or issued, and whether molar replaces it when it expires. */
  readonly token: () => KnownToken | undefined;
  /** Reads the secret of a profile (`profile work`) in the keyring; rejects with a Failure when it cannot. */
  readonly readKeyring: (account: string, profile: string) => Promise<unknown>;
  /** UTC milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Every check, each after those it depends on; ends early where nothing more can be tried. */
export async function* diagnose(doctor: Doctor): AsyncGenerator<Finding> {
  yield checkVersions(doctor);
  const configured = checkConfiguration(doctor);
  yield configured.finding;
  if (configured.settings === undefined) return;
  const { settings, credential } = configured;
  if (settings.profile !== undefined) yield checkPrivacy(settings.profile.path);
  if (credential.kind === 'keyring') {
    const finding = await checkKeyring(credential, doctor);
    yield finding;
    if (finding.level === 'fail') return;
  }
  const address = new URL(settings.baseUrl);
  const { finding, proxy } = checkProxy(address, doctor.env);
  yield finding;
  if (finding.level === 'fail') return;
  const name = await checkName(address, proxy, doctor);
  yield name;
  if (name.level === 'fail') return;
  yield await checkTls(address, proxy, doctor);
  yield* await checkAccess(settings, doctor);
}

function checkVersions({ versions: { molar, node, origin } }: Doctor): Finding {
  const message = `molar ${molar} on Node ${node}${origin === undefined ? '' : `, of the ${origin}`}.`;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return passed('versions', message);
  return warning('versions', message, 'molar needs Node 20.19 or newer; install a newer one.');
}

type Configured =
  | { readonly finding: Finding; readonly settings: ConnectionSettings; readonly credential: Credential }
  | { readonly finding: Finding; readonly settings?: undefined };

/** A Failure as a failed check; anything else is thrown. */
function failedOf(check: string, cause: unknown): Finding {
  if (cause instanceof Failure) return failed(check, cause);
  throw cause;
}

function checkConfiguration({ flags, env }: Doctor): Configured {
  try {
    const settings = readSettings(flags, env);
    const credential = findCredential(flags, env, settings);
    const { baseUrl, organization, sources } = settings;
    const message = `Server ${baseUrl} (${sources?.url}), organization ${organization} (${sources?.organization}), token from ${credential.source}.`;
    return { finding: passed('configuration', message), settings, credential };
  } catch (cause) {
    return { finding: failedOf('configuration', cause) };
  }
}

function checkPrivacy(path: string): Finding {
  if (!hasModes()) return passed('profiles', `The access list of ${path} says who can read it: icacls shows it.`);
  if (isPrivate(path)) return passed('profiles', `Only you can read ${path}.`);
  const message = `Others on this computer can read ${path}, which holds secrets.`;
  const next = `Run chmod 600 '${path}', and replace the tokens in it if others may have seen them.`;
  return warning('profiles', message, next);
}

type KeyringCredential = Extract<Credential, { kind: 'keyring' }>;

async function checkKeyring({ account, source }: KeyringCredential, { readKeyring }: Doctor): Promise<Finding> {
  return readKeyring(account, source).then(
    () => passed('keyring', `The secret of ${source} can be read from the system keyring.`),
    (cause: unknown) => failedOf('keyring', cause),
  );
}

function checkProxy(address: URL, env: Environment): { finding: Finding; proxy?: ProxyInUse | undefined } {
  try {
    const proxy = proxyFor(address, env);
    // Not the whole address of the proxy: it may hold a password.
    const through = proxy && `Requests go through ${proxy.url.host} (${proxy.variable}).`;
    const none = isLoopback(address.hostname) ? 'None: the server is on this machine.' : 'None.';
    return { finding: passed('proxy', through ?? none), proxy };
  } catch (cause) {
    return { finding: failedOf('proxy', cause) };
  }
}

async function checkName(address: URL, proxy: ProxyInUse | undefined, { lookup }: Doctor): Promise<Finding> {
  const host = bareHost((proxy?.url ?? address).hostname);
  const what = proxy === undefined ? host : `The proxy ${host}`;
  try {
    return passed('name', `${what} is ${(await lookup(host)).join(', ')}.`);
  } catch (cause) {
    const isTemporary = codeOf(cause) === 'EAI_AGAIN';
    return failed('name', {
      message: isTemporary ? `DNS lookup failed: ${host}.` : `Unknown host: ${host}.`,
      hint: isTemporary
        ? 'Check the network connection, VPN and DNS settings.'
        : `Check the spelling of ${proxy?.variable ?? 'the address (MOLAR_URL, --url)'}, and whether a VPN is needed.`,
      exitCode: EXIT.network,
    });
  }
}

async function checkTls(address: URL, proxy: ProxyInUse | undefined, { inspect }: Doctor): Promise<Finding> {
  if (address.protocol === 'http:') {
    if (isLoopback(address.hostname)) return passed('tls', 'Plain http://, on this machine only.');
    return warning('tls', 'Plain http://: the token travels unencrypted.', 'Use https://.');
  }
  return inspect(address, proxy).then(
    (facts) => judgeCertificate(address.host, facts),
    (cause: unknown) => certificateUnknown(address.host, cause),
  );
}

/** Token, organization, scopes, clock and rate limit, as the server responds to the token. */
async function checkAccess(settings: ConnectionSettings, doctor: Doctor): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  try {
    const probed = await probeScopes(await doctor.connect(), doctor.signal, doctor.now());
    findings.push(
      tokenFinding(doctor.token(), doctor.now()),
      passed('organization', `The token is valid for organization ${settings.organization}.`),
      ...probed.map(scopeFinding),
    );
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    findings.push(...refusedFindings(cause));
  }
  const last = doctor.lastResponse();
  return last === undefined ? findings : [...findings, clockFinding(last), rateFinding(last)];
}

/** Milliseconds before its end at which a token that is not renewed automatically is worth a warning. */
const SOON = 86_400_000;

function tokenFinding(facts: KnownToken | undefined, now: number): Finding {
  const accepted = 'The server accepts the token';
  if (facts?.expiresAt === undefined) return passed('token', `${accepted}. Its expiry is unknown.`);
  const left = facts.expiresAt - now;
  const at = momentText(facts.expiresAt);
  const until = left > 0 ? `It expires ${at}, in ${spanText(left)}` : `It expired ${at}`;
  if (facts.renewed) return passed('token', `${accepted}. ${until}, and is renewed automatically.`);
  if (left > SOON) return passed('token', `${accepted}. ${until}.`);
  return warning('token', `${accepted}. ${until}.`, 'Request a new token, and store it with molar login.');
}

function scopeFinding({ scope, allowed, failure }: ProbeResult): Finding {
  if (allowed) return passed('scope', `The token has ${scope}.`);
  const message = `The token lacks ${scope}. ${failure?.message ?? ''}`.trim();
  if (scope === 'model:read') {
    return failed('scope', { message, hint: 'Use a token with this scope.', exitCode: EXIT.auth });
  }
  return warning('scope', message, `Commands that need ${scope} will be refused; use a token with it.`);
}

/** What failed, by the exit code of a failure that is not a response of the API. */
const CHECKS: Readonly<Record<number, string>> = { [EXIT.network]: 'server', [EXIT.auth]: 'token' };

/** Next steps in place of those that name the doctor. */
const STEPS: Readonly<Record<string, string>> = {
  'network.unreachable': 'Check the address, the port, the firewall and the proxy.',
  'network.certificate': 'See the tls check above.',
};
const NEW_TOKEN = 'Run molar login, or set MOLAR_TOKEN (or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET) to a valid one.';
const OTHER_ORGANIZATION = 'Use an organization that the token was issued for (MOLAR_ORGANIZATION, --organization).';

function refusedFindings(cause: Failure): readonly Finding[] {
  const { message, exitCode } = cause;
  if (!(cause instanceof ApiFailure)) {
    return [failed(CHECKS[exitCode] ?? 'configuration', { message, exitCode, hint: STEPS[cause.code] ?? cause.hint })];
  }
  if (cause.status === 401) return [failed('token', { message, exitCode, hint: NEW_TOKEN })];
  if (cause.status === 403) {
    const refused = failed('organization', { message, exitCode, hint: OTHER_ORGANIZATION });
    return [passed('token', 'The server accepts the token.'), refused];
  }
  if (cause.status !== 404) return [failed('server', cause)];
  const hint = 'Check the address (MOLAR_URL, --url): it is what comes before /api/v1.';
  return [failed('server', { message: `${message} This is not the API.`, hint, exitCode })];
}

/** Seconds of difference that transfer time and rounding explain. */
const NEGLIGIBLE = 2;

/** Seconds that clocks may differ before it is worth a warning. */
const TOLERANCE = 60;

function clockFinding(last: LastResponse): Finding {
  const seconds = clockAhead(last);
  if (seconds === undefined) return passed('clock', 'The server does not report its time.');
  if (Math.abs(seconds) <= NEGLIGIBLE) return passed('clock', "This computer's clock agrees with the server's.");
  const message = `This computer's clock is ${spanText(Math.abs(seconds) * 1000)} ${seconds < 0 ? 'behind' : 'ahead of'} the server's.`;
  if (Math.abs(seconds) <= TOLERANCE) return passed('clock', message);
  return warning('clock', message, 'Set the clock, best by network time: tokens and --since-last depend on it.');
}

function rateFinding(last: LastResponse): Finding {
  const rate = rateLeft(last);
  if (rate === undefined) return passed('rate limit', 'The server does not report how many requests are left.');
  const { left, limit } = rate;
  const message = `${left}${limit === undefined ? '' : ` of ${limit}`} requests are left.`;
  if (left > 0) return passed('rate limit', message);
  return warning('rate limit', message, 'Wait a little, or run fewer commands at the same time.');
}
