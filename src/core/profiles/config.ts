import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { platform as thisPlatform } from 'node:process';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { isOpenToOthers } from '../../filesystem/private.ts';
import { decodeText } from '../../text/decode.ts';
import type { Environment } from '../environment.ts';
import { codeOf, Failure, fileFailure, localFailure, usageFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';

/**
 * What a profile authenticates with. A command is run each time, so nothing secret is stored. `keyring`: the token, or
 * the secret of `clientId` if given, is an entry of the system's keyring under `account`.
 */
export type ProfileSecret =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'client'; readonly clientId: string; readonly clientSecret: string; readonly tokenUrl?: string }
  | { readonly kind: 'keyring'; readonly account: string; readonly clientId?: string; readonly tokenUrl?: string };

/** A connection with a name (contract §3). */
export interface Profile {
  /** What stands before `/api/v1`; the secret goes to this address only. */
  readonly url: string;
  readonly organization: string;
  /** Plain http:// was allowed when the profile was made. */
  readonly allowHttp?: boolean;
  readonly secret: ProfileSecret;
}

/** The config file: `profile` names the profile in use, `defaults` holds flags for when they are not given. */
export interface StoredConfig {
  readonly profile?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly defaults: Readonly<Record<string, string>>;
}

/** The config file: below MOLAR_CONFIG_DIR, or in the platform's folder for configuration. */
export function configPath(env: Environment, platform: NodeJS.Platform = thisPlatform): string {
  return join(configFolder(env, platform), 'config.json');
}

/** The folder of everything that molar saves between runs. */
export function configFolder(env: Environment, platform: NodeJS.Platform = thisPlatform): string {
  if (env.MOLAR_CONFIG_DIR) return env.MOLAR_CONFIG_DIR;
  const home = env.HOME || homedir();
  if (platform === 'darwin') return join(home, 'Library', 'Preferences', 'molar');
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'molar');
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'molar');
}

/** The platform's folder for what molar stores beside settings: mirrors, and the data of a server. */
export function applicationDataFolder(env: Environment, platform: NodeJS.Platform = thisPlatform): string {
  const home = env.HOME || homedir();
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'molar');
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'molar');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'molar');
}

/** The config, empty where there is no file. Throws a Failure (exit 9) when it cannot be read or is malformed. */
export function readConfig(path: string): StoredConfig {
  try {
    return parseConfig(decodeText(readFileSync(path)), path);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return { profiles: {}, defaults: {} };
    throw cause instanceof Failure ? cause : fileFailure(`read the config file ${path}`, cause);
  }
}

/** Whether nobody but its owner may read the file, as far as its mode tells. */
export function isPrivate(path: string): boolean {
  return !isOpenToOthers(statSync(path));
}

/** The profile that a command uses, and what named it. */
export interface ChosenProfile {
  readonly name: string;
  readonly profile: Profile;
  readonly source: '--profile' | 'MOLAR_PROFILE' | 'config';
  /** The config file. */
  readonly path: string;
}

/**
 * The profile that `--profile`, MOLAR_PROFILE or the config file names, in this order; undefined when none does.
 * Throws a Failure (exit 2) when there is no profile of that name.
 */
export function chooseProfile(flag: string | undefined, env: Environment): ChosenProfile | undefined {
  const path = configPath(env);
  const config = readConfig(path);
  const named = nameOf(flag, env, config);
  if (named === undefined) return undefined;
  const { name, source } = named;
  return { name, source, path, profile: profileNamed(config, name, source === 'config' ? path : source) };
}

/** Names of the profiles in the config file, in the order they were made. */
export function profileNames(env: Environment): readonly string[] {
  return Object.keys(readConfig(configPath(env)).profiles);
}

/** A profile of the config; throws a Failure (exit 2) that lists the known ones. `source`: what named it. */
export function profileNamed(config: StoredConfig, name: string, source: string): Profile {
  const profile = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const known = Object.keys(config.profiles);
  const list = known.length === 0 ? 'There are none yet.' : `There are: ${known.join(', ')}.`;
  throw localFailure('usage.connection', `There is no profile ${name}. ${list}`, {
    source,
    hint: `Make it with molar login --profile ${name}${known.length === 0 ? '' : ', or choose another'}.`,
  });
}

/** Checks the name of a new profile; throws a Failure (exit 2). */
export function checkProfileName(name: string): string {
  if (isSavedName(name)) return name;
  throw usageFailure('A profile name is 1 to 64 letters, digits, dots, hyphens or underscores.', {
    source: '--profile',
  });
}

function nameOf(
  flag: string | undefined,
  env: Environment,
  config: StoredConfig,
): Pick<ChosenProfile, 'name' | 'source'> | undefined {
  if (flag) return { name: flag, source: '--profile' };
  if (env.MOLAR_PROFILE) return { name: env.MOLAR_PROFILE, source: 'MOLAR_PROFILE' };
  return config.profile === undefined ? undefined : { name: config.profile, source: 'config' };
}

/** Whether a text can name something saved between runs: a profile, a bookmark, a listener. */
export function isSavedName(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,63}$/.test(text);
}

function parseConfig(text: string, path: string): StoredConfig {
  // The parser's own message would repeat the text, which holds secrets.
  const stored = jsonOf(text);
  if (stored === undefined) throw unusable(path, 'is not valid JSON');
  if (!isPlainObject(stored)) throw unusable(path, 'is not a JSON object');
  const { profile, profiles = {}, defaults = {} } = stored;
  if (profile !== undefined && typeof profile !== 'string') throw unusable(path, 'has a profile that is not a name');
  if (!isPlainObject(profiles)) throw unusable(path, 'has profiles that are not an object');
  if (!isPlainObject(defaults) || !Object.values(defaults).every((value) => typeof value === 'string')) {
    throw unusable(path, 'has defaults that are not strings');
  }
  for (const [name, value] of Object.entries(profiles)) {
    if (!isProfile(value)) throw unusable(path, `has an incomplete profile ${name}`);
  }
  return {
    ...(profile !== undefined && { profile }),
    profiles: profiles as Record<string, Profile>,
    defaults: defaults as Record<string, string>,
  };
}

const SECRET_TEXTS: Readonly<Record<ProfileSecret['kind'], readonly string[]>> = {
  token: ['token'],
  command: ['command'],
  client: ['clientId', 'clientSecret'],
  keyring: ['account'],
};

/** What a profile authenticates with, wherever it is stored. */
export function kindOfSecret(secret: ProfileSecret): 'token' | 'command' | 'client' {
  if (secret.kind !== 'keyring') return secret.kind;
  return secret.clientId === undefined ? 'token' : 'client';
}

/** Where the secret of a profile is stored; undefined for a command, which prints it each time. */
export function secretLocation({ kind }: ProfileSecret): 'keyring' | 'file' | undefined {
  return kind === 'command' ? undefined : kind === 'keyring' ? 'keyring' : 'file';
}

function isProfile(value: unknown): value is Profile {
  if (!isPlainObject(value) || typeof value.url !== 'string' || typeof value.organization !== 'string') return false;
  const { secret } = value;
  if (!isPlainObject(secret) || typeof secret.kind !== 'string' || !Object.hasOwn(SECRET_TEXTS, secret.kind)) {
    return false;
  }
  const optional = ['clientId', 'tokenUrl'].every((name) => ['string', 'undefined'].includes(typeof secret[name]));
  return (
    optional && SECRET_TEXTS[secret.kind as ProfileSecret['kind']].every((name) => typeof secret[name] === 'string')
  );
}

function unusable(path: string, what: string): Failure {
  return localFailure('local.file', `The config file ${path} ${what}.`, {
    hint: 'Correct it, or remove it and run molar login again.',
  });
}
