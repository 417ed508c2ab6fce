import { isOrganizationId } from '../../catalog/fields/composites.ts';
import type { Environment } from '../environment.ts';
import { type Failure, localFailure, usageFailure } from '../failure.ts';
import { type ChosenProfile, chooseProfile, profileNames } from '../profiles/config.ts';
import { refuseUnencrypted } from '../transport/address.ts';

/** What the flags of a command say about the connection. */
export interface ConnectionFlags {
  readonly url?: string | undefined;
  readonly organization?: string | undefined;
  readonly profile?: string | undefined;
  readonly tokenStdin?: boolean | undefined;
  readonly tokenFile?: string | undefined;
  readonly tokenCommand?: string | undefined;
  readonly allowHttp?: boolean | undefined;
  readonly caCert?: string | undefined;
}

/** Where to connect, and as whom. Secrets are read when they are needed (`credentials.ts`). */
export interface ConnectionSettings {
  /** What stands before `/api/v1`, without a slash at the end. */
  readonly baseUrl: string;
  readonly organization: string;
  readonly tokenUrl: string | undefined;
  /** The profile that was needed or asked for. */
  readonly profile?: ChosenProfile | undefined;
  /** What gave the address and the organization: a flag, a variable or a profile. */
  readonly sources?: { readonly url: string; readonly organization: string };
}

/**
 * Flags beat the environment, which beats the profile (contract §3); a profile named by `--profile` is a flag too. The
 * config file is read only where a profile is named or something is missing. Throws a Failure with exit code 2 that
 * names what is missing or wrong.
 */
export function readSettings(flags: ConnectionFlags, env: Environment): ConnectionSettings {
  if (!needsProfile(flags, env)) return settingsOf(flags, env, undefined);
  const profile = chooseProfile(flags.profile, env);
  return settingsOf(flags, env, profile, profile === undefined ? profileNames(env) : []);
}

/** As `readSettings`, with the profile in use, if any; else `others` are those that could be used. */
export function settingsOf(
  flags: ConnectionFlags,
  env: Environment,
  profile: ChosenProfile | undefined,
  others: readonly string[] = [],
): ConnectionSettings {
  const find = (key: 'url' | 'organization') => {
    const found = findSetting(key, flags, env, profile);
    if (found === undefined) throw notSet(key, others);
    return found;
  };
  const address = find('url');
  const allowHttp = flags.allowHttp === true || (address.fromProfile && profile?.profile.allowHttp === true);
  const baseUrl = readBaseUrl(address.text, address.source, allowHttp);
  const organization = find('organization');
  if (!isOrganizationId(organization.text)) {
    throw usageFailure(`${organization.source} must be 1 to 64 letters, digits, hyphens or underscores.`, {
      source: organization.source,
      hint: 'It is the id of the organization that the token was issued for; see molar help environment.',
    });
  }
  const tokenUrl = env.MOLAR_TOKEN_URL || undefined;
  if (tokenUrl !== undefined) readUrl(tokenUrl, 'MOLAR_TOKEN_URL', flags.allowHttp === true);
  const sources = { url: address.source, organization: organization.source };
  return { baseUrl, organization: organization.text, tokenUrl, profile, sources };
}

function needsProfile(flags: ConnectionFlags, env: Environment): boolean {
  const secret = flags.tokenStdin || flags.tokenFile || flags.tokenCommand || env.MOLAR_TOKEN || env.MOLAR_CLIENT_ID;
  const isComplete = (flags.url || env.MOLAR_URL) && (flags.organization || env.MOLAR_ORGANIZATION) && secret;
  return Boolean(flags.profile || env.MOLAR_PROFILE || !isComplete);
}

const VARIABLES = { url: 'MOLAR_URL', organization: 'MOLAR_ORGANIZATION' } as const;

/** The first setting given, and where; a profile named by `--profile` comes before the environment. */
function findSetting(
  key: 'url' | 'organization',
  flags: ConnectionFlags,
  env: Environment,
  profile: ChosenProfile | undefined,
) {
  const flag = { text: flags[key]?.trim(), source: `--${key}`, fromProfile: false };
  const variable = { text: env[VARIABLES[key]]?.trim(), source: VARIABLES[key], fromProfile: false };
  const stored = { text: profile?.profile[key], source: `profile ${profile?.name}`, fromProfile: true };
  for (const { text, ...origin } of profile?.source === '--profile' ? [flag, stored] : [flag, variable, stored]) {
    if (text) return { text, ...origin };
  }
  return undefined;
}

function notSet(key: 'url' | 'organization', others: readonly string[]): Failure {
  const hint = `Choose a profile with molar profiles use NAME, or give --profile NAME for once. There are: ${others.join(', ')}.`;
  const message = `${VARIABLES[key]} is not set, and --${key} is not given.`;
  return localFailure('usage.connection', message, { source: `--${key}`, ...(others.length > 0 && { hint }) });
}

/** The base URL in a text; `/api/v1` at its end is removed. Throws a Failure (exit 2) that names `source`. */
export function readBaseUrl(text: string, source: string, allowHttp: boolean): string {
  const url = readUrl(text, source, allowHttp);
  if (url.search !== '' || url.hash !== '') throw invalidUrl(source, 'must not have a query or a fragment');
  return (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

function readUrl(text: string, source: string, allowHttp: boolean): URL {
  if (!URL.canParse(text)) throw invalidUrl(source, 'is not a URL; write it like https://api.example.com');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw invalidUrl(source, 'must begin with https:// or http://');
  // The text is not repeated: it holds a password.
  if (url.username !== '' || url.password !== '') throw invalidUrl(source, 'must not hold a user name or password');
  if (!allowHttp) refuseUnencrypted(url, { source, what: 'the token' });
  return url;
}

function invalidUrl(source: string, what: string): Failure {
  const hint = 'See molar help environment; molar login asks for what is needed, and checks it.';
  return usageFailure(`${source} ${what}.`, { source, hint });
}
