import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { platform as thisPlatform } from 'node:process';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Environment } from '../connection/settings.ts';
import { codeOf, type Failure, fileFailure, localFailure } from '../failure.ts';

/**
 * What a profile proves itself with. A command is run anew each time, so nothing secret is kept. `keyring`: the token,
 * or the secret of `clientId` where that is there, is an entry of the system's keyring under `account`.
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

/** The folder of everything that molar keeps between runs. */
export function configFolder(env: Environment, platform: NodeJS.Platform = thisPlatform): string {
  if (env.MOLAR_CONFIG_DIR) return env.MOLAR_CONFIG_DIR;
  const home = env.HOME || homedir();
  if (platform === 'darwin') return join(home, 'Library', 'Preferences', 'molar');
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'molar');
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'molar');
}

/** The config, empty where there is no file. Throws a Failure (exit 9) when it cannot be read or makes no sense. */
export function readConfig(path: string): StoredConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return { profiles: {}, defaults: {} };
    throw fileFailure(`read the config file ${path}`, cause);
  }
  return parseConfig(text, path);
}

/** Whether nobody but its owner may read the file; always so where modes mean nothing (Windows). */
export function isPrivate(path: string, platform: NodeJS.Platform = thisPlatform): boolean {
  return platform === 'win32' || (statSync(path).mode & 0o077) === 0;
}

function parseConfig(text: string, path: string): StoredConfig {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    // The parser's own message repeats the text, which holds secrets.
    throw unusable(path, 'is not valid JSON');
  }
  if (!isPlainObject(stored)) throw unusable(path, 'is not a JSON object');
  const { profile, profiles = {}, defaults = {} } = stored;
  if (profile !== undefined && typeof profile !== 'string') throw unusable(path, 'has a profile that is no name');
  if (!isPlainObject(profiles)) throw unusable(path, 'has profiles that are no object');
  if (!isPlainObject(defaults) || !Object.values(defaults).every((value) => typeof value === 'string')) {
    throw unusable(path, 'has defaults that are no texts');
  }
  for (const [name, value] of Object.entries(profiles)) {
    if (!isProfile(value)) throw unusable(path, `has a profile ${name} that is not whole`);
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

/** What a profile proves itself with, wherever it is kept. */
export function kindOfSecret(secret: ProfileSecret): 'token' | 'command' | 'client' {
  if (secret.kind !== 'keyring') return secret.kind;
  return secret.clientId === undefined ? 'token' : 'client';
}

/** Where the secret of a profile is; undefined for a command, which gives it anew each time. */
export function placeOfSecret({ kind }: ProfileSecret): 'keyring' | 'file' | undefined {
  if (kind === 'command') return undefined;
  return kind === 'keyring' ? 'keyring' : 'file';
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
