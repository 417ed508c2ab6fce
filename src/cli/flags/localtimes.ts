import type { WallClock } from '../../catalog/fields/kind.ts';
import { formatInstant, parseInstant, writtenWall } from '../../catalog/fields/times.ts';
import type { Environment } from '../../core/environment.ts';
import { LocalClock } from '../../core/output/localclock.ts';
import { type FlagValues, isOn, textFlag } from './values.ts';
import { readZone } from './zone.ts';

interface Zone {
  readonly clock: LocalClock;
  readonly isComputers: boolean;
}

interface Place {
  readonly date: string;
  readonly second: number;
}

/**
 * The zone in which a command line means dates and times that have none: that of `--timezone` or `--utc`, else the
 * configured one (`molar config set timezone`), else this computer's. It is looked up only when such a value is read.
 */
export class LocalTimes {
  private readonly flags: FlagValues;
  private readonly env: Environment;
  private found: Zone | undefined;
  /** What the zone was taken for, which the note tells. */
  private readonly taken = new Set<'times' | 'place'>();

  constructor(flags: FlagValues, env: Environment) {
    this.flags = flags;
    this.env = env;
  }

  /** UTC milliseconds of a wall-clock time. Throws a Failure (exit 9) when the configuration cannot be read. */
  readonly instantOf = (wall: WallClock): number => {
    this.taken.add('times');
    return this.zone().clock.instantOf(wall);
  };

  /**
   * Local date `YYYY-MM-DD` and second of the day of a date-time; undefined for text that is none. One that names its own
   * offset is taken as written unless a zone was named: it comes from where the event is, which this computer need not be.
   */
  placeOf(text: string): Place | undefined {
    const instant = parseInstant(text, this);
    if (typeof instant !== 'number') return undefined;
    const { clock, isComputers } = this.zone();
    const written = isComputers ? writtenWall(text) : undefined;
    if (written !== undefined) return { date: formatInstant(written).slice(0, 10), second: secondOf(written) };
    this.taken.add('place');
    const { wall, date } = clock.of(Math.floor(instant));
    return { date, second: secondOf(wall) };
  }

  /** What to tell the user: which zone was taken, and for what, when one was needed and none was named. */
  note(): string | undefined {
    if (this.found?.isComputers !== true || this.taken.size === 0) return undefined;
    if (isOn(this.flags, 'json') || textFlag(this.flags, 'format') === 'json') return undefined;
    const what = this.taken.has('times')
      ? 'Dates and times without a zone'
      : 'The day and the time of day of the series';
    return `${what} are taken in ${this.found.clock.zone}, this computer's; --timezone ZONE or molar config set timezone ZONE names another.`;
  }

  private zone(): Zone {
    if (this.found !== undefined) return this.found;
    const { zone, isComputers } = readZone(this.flags, { env: this.env });
    this.found = { clock: new LocalClock(zone), isComputers };
    return this.found;
  }
}

const DAY = 86_400_000;

function secondOf(wall: number): number {
  return Math.floor((((wall % DAY) + DAY) % DAY) / 1000);
}
