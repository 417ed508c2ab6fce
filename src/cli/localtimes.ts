import type { WallClock } from '../catalog/fields/kind.ts';
import type { Environment } from '../core/connection/settings.ts';
import { LocalClock } from '../core/output/localclock.ts';
import { readZone } from './flags/zone.ts';
import { type FlagValues, isOn, textFlag } from './flagvalues.ts';

interface Zone {
  readonly clock: LocalClock;
  readonly isComputers: boolean;
}

/**
 * The zone in which a command line means dates and times that have none: that of `--timezone` or `--utc`, else the
 * configured one (`molar config set timezone`), else this computer's. It is looked up only when such a value is read.
 */
export class LocalTimes {
  private readonly flags: FlagValues;
  private readonly env: Environment;
  private found: Zone | undefined;

  constructor(flags: FlagValues, env: Environment) {
    this.flags = flags;
    this.env = env;
  }

  /** UTC milliseconds of a wall-clock time. Throws a Failure (exit 9) when the configuration cannot be read. */
  readonly instantOf = (wall: WallClock): number => this.zone().clock.instantOf(wall);

  /** Local date `YYYY-MM-DD` and second of the day of an instant in UTC milliseconds. */
  placeOf(instant: number): { readonly date: string; readonly second: number } {
    const { wall, date } = this.zone().clock.of(instant);
    return { date, second: Math.floor((((wall % DAY) + DAY) % DAY) / 1000) };
  }

  /** What to tell the user: which zone was taken, when one was needed and none was named. */
  note(): string | undefined {
    if (this.found?.isComputers !== true) return undefined;
    if (isOn(this.flags, 'json') || textFlag(this.flags, 'format') === 'json') return undefined;
    return `Dates and times without a zone are taken in ${this.found.clock.zone}, this computer's; --timezone ZONE or molar config set timezone ZONE names another.`;
  }

  private zone(): Zone {
    if (this.found !== undefined) return this.found;
    const { zone, isComputers } = readZone(this.flags, { env: this.env });
    this.found = { clock: new LocalClock(zone), isComputers };
    return this.found;
  }
}

const DAY = 86_400_000;
