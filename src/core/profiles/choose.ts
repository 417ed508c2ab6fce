import type { Environment } from '../connection/settings.ts';
import { localFailure, usageFailure } from '../failure.ts';
import { isSavedName } from '../savedname.ts';
import { configPath, type Profile, readConfig, type StoredConfig } from './config.ts';

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

/** Names of the profiles of the config file, in the order they were made. */
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
