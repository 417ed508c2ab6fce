import { EXIT } from '../../catalog/failures.ts';
import { type Credential, findCredential } from '../connection/credentials.ts';
import {
  type ConnectionFlags,
  type ConnectionSettings,
  type Environment,
  readSettings,
} from '../connection/settings.ts';
import type { TokenFacts } from '../connection/tokenfacts.ts';
import { codeOf, Failure } from '../failure.ts';
import { isPrivate } from '../profiles/config.ts';
import { isLoopback } from '../transport/address.ts';
import type { ApiClient } from '../transport/client.ts';
import { type ProxyInUse, proxyFor } from '../transport/proxy.ts';
import { accessFindings } from './access.ts';
import { type CertificateFacts, judgeCertificate, noCertificate } from './certificate.ts';
import { doubtful, type Finding, failed, fine } from './finding.ts';
import type { Heard } from './lastresponse.ts';

/** What the checks need of the world. */
export interface Doctor {
  readonly flags: ConnectionFlags;
  readonly env: Environment;
  readonly versions: { readonly molar: string; readonly node: string };
  readonly lookup: (host: string) => Promise<readonly string[]>;
  readonly inspect: (address: URL, proxy: ProxyInUse | undefined) => Promise<CertificateFacts>;
  readonly connect: () => Promise<ApiClient>;
  readonly heard: () => Heard | undefined;
  /** What is known of the token, once it was read or given out, and whether molar gets another when it ends. */
  readonly token: () => (TokenFacts & { readonly renewed: boolean }) | undefined;
  /** Reads what the keyring keeps for a profile (`profile work`); rejects with a Failure when it cannot. */
  readonly readKeyring: (account: string, profile: string) => Promise<unknown>;
  /** UTC milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Every check in the order in which one needs the other; ends early where nothing more can be tried. */
export async function* diagnose(doctor: Doctor): AsyncGenerator<Finding> {
  yield versions(doctor);
  const configured = configuration(doctor);
  yield configured.finding;
  if (configured.settings === undefined) return;
  const { settings, credential } = configured;
  if (settings.profile !== undefined) yield privacyFinding(settings.profile.path);
  if (credential.kind === 'keyring') {
    const kept = await keyringFinding(credential, doctor);
    yield kept;
    if (kept.level === 'fail') return;
  }
  const address = new URL(settings.baseUrl);
  const routed = routing(address, doctor.env);
  yield routed.finding;
  if (routed.finding.level === 'fail') return;
  const { proxy } = routed;
  const name = await nameFinding(address, proxy, doctor);
  yield name;
  if (name.level === 'fail') return;
  yield await tlsFinding(address, proxy, doctor);
  yield* await accessFindings(settings, doctor);
}

function versions({ versions: { molar, node } }: Doctor): Finding {
  const message = `molar ${molar} on Node ${node}.`;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return fine('versions', message);
  return doubtful('versions', message, 'molar needs Node 20.19 or newer; install a newer one.');
}

type Configured =
  | { readonly finding: Finding; readonly settings: ConnectionSettings; readonly credential: Credential }
  | { readonly finding: Finding; readonly settings?: undefined };

function configuration({ flags, env }: Doctor): Configured {
  try {
    const settings = readSettings(flags, env);
    const credential = findCredential(flags, env, settings);
    const { baseUrl, organization, sources } = settings;
    const message = `Server ${baseUrl} (${sources?.url}), organization ${organization} (${sources?.organization}), token from ${credential.source}.`;
    return { finding: fine('configuration', message), settings, credential };
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

type KeyringCredential = Extract<Credential, { kind: 'keyring' }>;

async function keyringFinding({ account, source }: KeyringCredential, { readKeyring }: Doctor): Promise<Finding> {
  try {
    await readKeyring(account, source);
    return fine('keyring', `The keyring of this system gives the secret of ${source}.`);
  } catch (cause) {
    if (cause instanceof Failure) return failed('keyring', cause);
    throw cause;
  }
}

function routing(address: URL, env: Environment): { finding: Finding; proxy?: ProxyInUse | undefined } {
  try {
    const proxy = proxyFor(address, env);
    return { finding: fine('proxy', proxyText(address, proxy)), proxy };
  } catch (cause) {
    if (cause instanceof Failure) return { finding: failed('proxy', cause) };
    throw cause;
  }
}

function proxyText(address: URL, proxy: ProxyInUse | undefined): string {
  // Not the whole address of the proxy: it may hold a password.
  if (proxy !== undefined) return `Requests go through ${proxy.url.host} (${proxy.variable}).`;
  return isLoopback(address.hostname) ? 'None: the server is on this machine.' : 'None.';
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
