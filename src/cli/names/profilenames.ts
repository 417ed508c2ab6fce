import { readSettings } from '../../core/connection/settings.ts';
import type { Environment } from '../../core/environment.ts';
import { computerZone } from '../../core/environment.ts';
import { Failure } from '../../core/failure.ts';
import { Names, namesPath } from '../../core/names/namesfile.ts';
import { Zones } from '../../core/names/zones.ts';
import { chooseProfile, configPath, readConfig } from '../../core/profiles/config.ts';
import { configKey, configValue } from '../../core/profiles/defaults.ts';
import { connectionFlags, readConnectionFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, isOn, textFlag, textFlags } from '../flags/values.ts';

/** Flags of commands on the names file that send no requests. */
export const quietNamesFlags = {
  profile: connectionFlags.profile,
  quiet: flagGroup().toggle('Print no notes'),
};

/** The profile that would connect; where nothing would, the chosen one. */
export function profileName(flags: FlagValues, env: Environment): string | undefined {
  const connection = readConnectionFlags(flags);
  try {
    return readSettings(connection, env).profile?.name;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== 'usage.connection') throw cause;
    return chooseProfile(connection.profile, env)?.name;
  }
}

/** The names file of the profile that a command line uses (D55). */
export function namesFile(flags: FlagValues, env: Environment): string {
  return namesPath(profileName(flags, env), env);
}

/** What the names file tells. Throws a Failure (exit 9) for one that cannot be read. */
export function readNames(flags: FlagValues, env: Environment): Names {
  return Names.read(namesFile(flags, env));
}

/** Which time zone holds where, by the command line, the names file and the configuration. Throws a Failure (exit 9). */
export function readZones(flags: FlagValues, env: Environment, names = readNames(flags, env)): Zones {
  return new Zones(
    {
      named: isOn(flags, 'utc') ? 'UTC' : textFlag(flags, 'timezone'),
      configured: configValue(readConfig(configPath(env)), configKey('timezone')),
      computer: computerZone(env),
    },
    names,
  );
}

/** Ids of the locations that a command line asks for, as far as its flags name some. */
export function askedLocations(flags: FlagValues): readonly string[] {
  const texts = ['location', 'preferred-location'].flatMap((name) => textFlags(flags, name));
  return texts.flatMap((text) => text.split(',').map((part) => part.trim())).filter((id) => /^\d+$/.test(id));
}

/** The organization of the connection; undefined where there is none. */
export function organizationOf(
  flags: FlagValues,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  try {
    return readSettings(readConnectionFlags(flags), env).organization;
  } catch (cause) {
    if (cause instanceof Failure && cause.code === 'usage.connection') return undefined;
    throw cause;
  }
}
