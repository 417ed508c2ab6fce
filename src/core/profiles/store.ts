import { basename, dirname } from 'node:path';
import { syncFolder } from '../../filesystem/durable.ts';
import { closeFile } from '../../filesystem/private.ts';
import { holdLock, type LockOwner } from '../lockfile.ts';
import { guarded } from '../output/atomicfile.ts';
import { makeOwnFolder, replaceable } from '../output/ownfile.ts';
import { type Profile, readConfig, type StoredConfig } from './config.ts';

/** Milliseconds to wait for another command that changes the file. */
const LOCK_TIMEOUT = 5000;

/**
 * Changes the config file: for its owner only (0600), replaced atomically, one command at a time, so that `change` sees
 * what the previous one wrote. Throws a Failure (exit 9) when it cannot be read or written, or stays in use.
 */
export async function changeConfig(
  path: string,
  change: (config: StoredConfig) => StoredConfig,
  owner: LockOwner,
): Promise<void> {
  await guarded(`write the config file ${path}`, () => makeOwnFolder(dirname(path)));
  const release = await holdLock(`${path}.lock`, 'The config file', owner, LOCK_TIMEOUT);
  try {
    await write(path, change(readConfig(path)));
  } finally {
    await release();
  }
}

/** Writes the file as a unit; a link of another user is not followed. */
function write(path: string, config: StoredConfig): Promise<void> {
  return guarded(`write the config file ${path}`, async () => {
    const target = await replaceable(path);
    const { default: Conf } = await import('conf');
    const store = new Conf({
      cwd: dirname(target),
      configName: basename(target, '.json'),
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    store.store = { ...config };
    await closeFile(target);
    // It syncs the file alone.
    await syncFolder(dirname(target));
  });
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
