import { LocalClock } from '../output/localclock.ts';
import type { Names } from './namesfile.ts';

/** What told a time zone. `first`: it is that of the first location of the names file. */
export type ZoneOrigin = 'named' | 'location' | 'first' | 'configured' | 'computer';

/** A time zone by its IANA name. */
export interface Zone {
  readonly zone: string;
  readonly origin: ZoneOrigin;
}

/** Zones from outside of the names file. */
export interface OtherZones {
  /** Of the command line, for everything. */
  readonly named: string | undefined;
  readonly configured: string | undefined;
  readonly computer: string;
}

/** Which time zone holds where: the one named > that of the names file > the configured one > this computer's (D56). */
export class Zones {
  private readonly clocks = new Map<string, LocalClock>();

  constructor(
    private readonly others: OtherZones,
    private readonly names: Names,
  ) {}

  /** The zone of a location; without an id, of what has none in the names file. */
  of(location: string | undefined): Zone {
    const { named, configured, computer } = this.others;
    if (named !== undefined) return { zone: named, origin: 'named' };
    const told = location === undefined ? undefined : this.names.zoneOf(location);
    if (told !== undefined) return { zone: told, origin: 'location' };
    return configured === undefined
      ? { zone: computer, origin: 'computer' }
      : { zone: configured, origin: 'configured' };
  }

  /**
   * The zone of what is at no location, and of "today": that of the locations asked for where they share one, else of
   * the first location of the names file.
   */
  today(asked: readonly string[]): Zone {
    const [shared, ...different] = new Map(asked.map((id) => [this.of(id).zone, this.of(id)])).values();
    if (shared !== undefined && different.length === 0) return shared;
    const first = this.of(this.names.locations()[0]?.id);
    return first.origin === 'location' ? { ...first, origin: 'first' } : first;
  }

  /** Whether records of different locations may be in different zones. */
  get areSeveral(): boolean {
    return this.others.named === undefined && this.names.locations().some(({ timezone }) => timezone !== undefined);
  }

  /** The clock of a zone, made once. */
  clock({ zone }: Pick<Zone, 'zone'>): LocalClock {
    const known = this.clocks.get(zone) ?? new LocalClock(zone);
    this.clocks.set(zone, known);
    return known;
  }
}
