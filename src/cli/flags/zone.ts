import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { isTimeZone } from '../../catalog/fields/times.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { computerZone } from '../../core/environment.ts';
import { usageFailure } from '../../core/failure.ts';
import { LocalClock } from '../../core/output/localclock.ts';
import { configPath, readConfig } from '../../core/profiles/config.ts';
import { configKey, configValue } from '../../core/profiles/defaults.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn, textFlag } from './values.ts';

const helpGroup = 'OUTPUT';

/** Time zone of times for people (D56), and of dates and times that people give without one (D50). */
export const zoneFlags = {
  timezone: Flags.string({
    helpGroup,
    helpValue: 'ZONE',
    summary:
      "Time zone of times in a table, html or xlsx, and of dates and times given without one, such as America/Denver; else the configured one, else this computer's",
  }),
  utc: Flags.boolean({ helpGroup, summary: 'Same as --timezone UTC' }),
};

/** The same for a command that shows no times, where a key of its filter is a date-time. */
export function zoneFlagsFor(keys: FilterKeys): FlagInput {
  if (Object.values(keys).every(({ value }) => value.name !== 'dateTime')) return {};
  const { timezone, utc } = zoneFlags;
  const summary =
    "Time zone of dates and times given without one, such as America/Denver; else the configured one, else this computer's";
  return { timezone: { ...timezone, summary }, utc };
}

/** Throws a Failure (exit 2) for a zone that is none, and for two of them. */
export function checkZone(flags: FlagValues): void {
  const zone = textFlag(flags, 'timezone');
  if (zone === undefined) return;
  if (isOn(flags, 'utc')) {
    throw usageFailure('--timezone and --utc contradict each other; give one.', { source: '--utc' });
  }
  if (!isTimeZone(zone)) {
    throw usageFailure('--timezone must be an IANA time zone such as America/Denver.', { source: '--timezone' });
  }
}

/** The zone of `--timezone` or `--utc`, else of the config, else of this computer. Throws a Failure (exit 9) for a config that cannot be read. */
export function readZone(flags: FlagValues, { env }: Pick<Context, 'env'>): { zone: string; isComputers: boolean } {
  const named = isOn(flags, 'utc') ? 'UTC' : textFlag(flags, 'timezone');
  const zone = named ?? configValue(readConfig(configPath(env)), configKey('timezone'));
  return {
    zone: zone ?? computerZone(env),
    isComputers: zone === undefined,
  };
}

/** The clock of times for people. */
export function readClock(flags: FlagValues, context: Pick<Context, 'env'>): LocalClock {
  return new LocalClock(readZone(flags, context).zone);
}

/** Which zone the times of a table are in: `Times in America/Denver, the time zone of this computer; …`. */
export function zoneText(flags: FlagValues, context: Pick<Context, 'env'>): string {
  const { zone, isComputers } = readZone(flags, context);
  return `Times in ${zone}${isComputers ? ', the time zone of this computer; --timezone names another' : ''}`;
}
