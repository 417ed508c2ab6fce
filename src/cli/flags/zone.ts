import type { FlagInput } from '@oclif/core/interfaces';
import type { WallClock } from '../../catalog/fields/kind.ts';
import { formatInstant, isTimeZone, parseInstant, writtenWall } from '../../catalog/fields/times.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import type { Environment } from '../../core/environment.ts';
import { usageFailure } from '../../core/failure.ts';
import type { Zone, Zones } from '../../core/names/zones.ts';
import { LocalClock } from '../../core/output/localclock.ts';
import type { Context } from '../context.ts';
import { askedLocations, readZones } from '../names/profilenames.ts';
import { flagGroup } from './declare.ts';
import { type FlagValues, isOn, textFlag } from './values.ts';

const { text, toggle } = flagGroup('OUTPUT');

/** Time zone of times for people (D56), and of dates and times that people give without one (D50). */
export const zoneFlags = {
  timezone: text(
    'ZONE',
    "Time zone of times in a table, html or xlsx, and of dates and times given without one, such as America/Denver; else the location's, the configured one, or this computer's",
  ),
  utc: toggle('Same as --timezone UTC'),
};

/** The same for a command that shows no times, where a key of its filter is a date-time. */
export function zoneFlagsFor(keys: FilterKeys): FlagInput {
  if (Object.values(keys).every(({ value }) => value.name !== 'dateTime')) return {};
  const { timezone, utc } = zoneFlags;
  const summary =
    "Time zone of dates and times given without one, such as America/Denver; else the location's, the configured one, or this computer's";
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

/**
 * The zone of "today", of dates and times given without one, and of times that belong to no location: that of
 * `--timezone` or `--utc`, else of the locations asked for, else of the first location of the names file, else the
 * configured one, else this computer's. Throws a Failure (exit 9) for an unreadable file.
 */
export function readZone(flags: FlagValues, { env }: Pick<Context, 'env'>): Zone {
  return readZones(flags, env).today(askedLocations(flags));
}

/** The clock of that zone. */
export function readClock(flags: FlagValues, context: Pick<Context, 'env'>): LocalClock {
  return new LocalClock(readZone(flags, context).zone);
}

/** Which zone times are in: `Times in America/Denver, the time zone of this computer; …`. */
export function zoneText(flags: FlagValues, context: Pick<Context, 'env'>): string {
  const { zone, origin } = readZone(flags, context);
  return `Times in ${zone}${origin === 'computer' ? ', the time zone of this computer; --timezone names another' : ''}`;
}

/** Which zones the times of records with a location are in. */
export function recordZonesText(zones: Zones, flags: FlagValues, context: Pick<Context, 'env'>): string {
  if (!zones.areSeveral) return zoneText(flags, context);
  const { zone } = readZone(flags, context);
  const elsewhere = zones.of(undefined).zone;
  const where = elsewhere === zone ? '' : ` ${elsewhere} where its zone is not known;`;
  return `Times are local to the location of each record;${where} where it has none, in ${zone}`;
}

/** A local date `YYYY-MM-DD` and the second of its day. */
interface LocalTime {
  readonly date: string;
  readonly second: number;
}

/** Reads dates and times without a zone in the zone of the command line (`readZone`), looked up when first needed. */
export class LocalTimes {
  private found: { readonly clock: LocalClock; readonly origin: Zone['origin'] } | undefined;
  /** What the zone was used for, which the note says. */
  private readonly taken = new Set<'times' | 'series'>();

  constructor(
    private readonly flags: FlagValues,
    private readonly env: Environment,
  ) {}

  /** UTC milliseconds of a wall-clock time. Throws a Failure (exit 9) when the configuration cannot be read. */
  readonly instantOf = (wall: WallClock): number => {
    this.taken.add('times');
    return this.zone().clock.instantOf(wall);
  };

  /**
   * The local time of a date-time; undefined for text that is none. One with an offset of its own is taken as written
   * unless a zone was named: it comes from where the event is, which this computer need not be.
   */
  localOf(text: string): LocalTime | undefined {
    const instant = parseInstant(text, this);
    if (typeof instant !== 'number') return undefined;
    const { clock, origin } = this.zone();
    const written = GUESSED[origin] === undefined ? undefined : writtenWall(text);
    if (written !== undefined) return { date: formatInstant(written).slice(0, 10), second: secondOf(written) };
    this.taken.add('series');
    const { wall, date } = clock.of(Math.floor(instant));
    return { date, second: secondOf(wall) };
  }

  /** A note on which zone was used, and for what, when one was needed and nobody named it for this. */
  note(): string | undefined {
    const whose = this.found && GUESSED[this.found.origin];
    if (this.found === undefined || whose === undefined || this.taken.size === 0) return undefined;
    if (isOn(this.flags, 'json') || textFlag(this.flags, 'format') === 'json') return undefined;
    const what = this.taken.has('times')
      ? 'Dates and times without a zone'
      : 'The day and the time of day of the series';
    return `${what} are taken in ${this.found.clock.zone}, ${whose}.`;
  }

  private zone() {
    if (this.found !== undefined) return this.found;
    const { zone, origin } = readZone(this.flags, { env: this.env });
    this.found = { clock: new LocalClock(zone), origin };
    return this.found;
  }
}

/** Whose zone was taken where nobody named one. */
const GUESSED: Partial<Readonly<Record<Zone['origin'], string>>> = {
  computer: "this computer's; --timezone ZONE or molar config set timezone ZONE names another",
  first: 'that of the first location of the names file; --location or --timezone ZONE names another',
};

const DAY = 86_400_000;

function secondOf(wall: number): number {
  return Math.floor((((wall % DAY) + DAY) % DAY) / 1000);
}
