import type { WallClock } from '../catalog/fields/kind.ts';
import type { Environment } from '../core/connection/settings.ts';
import { type ZoneTime, zoneTime } from '../core/zonetime.ts';
import { namedFormat } from './flags/output.ts';
import { checkZone, readZone } from './flags/zone.ts';
import { type FlagValues, isOn } from './flagvalues.ts';

/**
 * The zone in which a command line means dates and times that have none: that of `--timezone` or `--utc`, else the configured one
 * (`molar config set timezone`), else this computer's. It is looked up only when such a value is read.
 */
export class LocalTimes {
  private readonly flags: FlagValues;
  readonly env: Environment;
  private found: (ZoneTime & { readonly isNamed: boolean }) | undefined;

  /** Throws a Failure (exit 2) for a `--timezone` that is none. */
  constructor(flags: FlagValues, env: Environment) {
    this.flags = flags;
    this.env = env;
    checkZone(flags);
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
    const { zone, isComputers } = readZone(this.flags, this);
    this.found = { ...zoneTime(zone), isNamed: !isComputers };
    return this.found;
  }
}
