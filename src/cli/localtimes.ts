import type { WallClock } from '../catalog/fields/kind.ts';
import { isTimeZone } from '../catalog/fields/times.ts';
import type { Environment } from '../core/connection/settings.ts';
import { usageFailure } from '../core/failure.ts';
import { configPath, readConfig } from '../core/profiles/config.ts';
import { configKey, configValue } from '../core/profiles/defaults.ts';
import { computerZone, type ZoneTime, zoneTime } from '../core/zonetime.ts';
import { namedFormat } from './flags/output.ts';
import { type FlagValues, isOn, textFlag } from './flagvalues.ts';

/**
 * The zone in which a command line means dates and times that have none: that of `--timezone`, else the configured one
 * (`molar config set timezone`), else this computer's. It is looked up only when such a value is read.
 */
export class LocalTimes {
  private readonly flags: FlagValues;
  private readonly env: Environment;
  private found: (ZoneTime & { readonly isNamed: boolean }) | undefined;

  /** Throws a Failure (exit 2) for a `--timezone` that is none. */
  constructor(flags: FlagValues, env: Environment) {
    this.flags = flags;
    this.env = env;
    const named = textFlag(flags, 'timezone');
    if (named === undefined || isTimeZone(named)) return;
    throw usageFailure('--timezone must be an IANA time zone such as America/Denver.', { source: '--timezone' });
  }

  /** UTC milliseconds of a wall-clock time. Throws a Failure (exit 9) when the configuration cannot be read. */
  readonly instantOf = (wall: WallClock): number => this.zone().instantOf(wall);

  /** Local date `YYYY-MM-DD` and second of the day of an instant, which is ISO 8601 with a zone. */
  placeOf(instant: string): { readonly date: string; readonly second: number } {
    const wall = new Date(this.zone().wallOf(Date.parse(instant))).toISOString();
    const [hour = 0, minute = 0, second = 0] = wall.slice(11, 19).split(':').map(Number);
    return { date: wall.slice(0, 10), second: hour * 3600 + minute * 60 + second };
  }

  /** What to tell the user: which zone was taken, when one was needed and none was named. */
  note(): string | undefined {
    if (this.found === undefined || this.found.isNamed) return undefined;
    if (isOn(this.flags, 'json') || namedFormat(this.flags) === 'json') return undefined;
    return `Dates and times without a zone are taken in ${this.found.zone}, this computer's; --timezone ZONE or molar config set timezone ZONE names another.`;
  }

  private zone(): ZoneTime {
    if (this.found !== undefined) return this.found;
    const named = textFlag(this.flags, 'timezone') ?? configuredZone(this.env);
    this.found = { ...zoneTime(named ?? computerZone(this.env)), isNamed: named !== undefined };
    return this.found;
  }
}

function configuredZone(env: Environment): string | undefined {
  return configValue(readConfig(configPath(env)), configKey('timezone'));
}
