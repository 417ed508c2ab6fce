import { chmod, mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { fileFailure } from '../failure.ts';
import { type Profile, readConfig, type StoredConfig } from './config.ts';

/**
 * Changes the config file: for its owner only (0600), replaced in one piece. Throws a Failure (exit 9) when it cannot
 * be read or written.
 */
export async function changeConfig(path: string, change: (config: StoredConfig) => StoredConfig): Promise<void> {
  const next = change(readConfig(path));
  const { default: Conf } = await import('conf');
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const store = new Conf({
      cwd: dirname(path),
      configName: basename(path, '.json'),
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    store.store = { ...next };
    await chmod(path, 0o600);
  } catch (cause) {
    throw fileFailure(`write the config file ${path}`, cause);
  }
}

/** The config with a profile added or replaced, and in use. */
export function withProfile(config: StoredConfig, name: string, profile: Profile): StoredConfig {
  return { ...config, profile: name, profiles: { ...config.profiles, [name]: profile } };
}

/** The config without a profile; when it was in use, none is. */
export function withoutProfile(config: StoredConfig, name: string): StoredConfig {
  const { profile, ...rest } = config;
  const profiles = Object.fromEntries(Object.entries(config.profiles).filter(([known]) => known !== name));
  return { ...rest, ...(profile !== undefined && profile !== name && { profile }), profiles };
}
