import type { WallClock } from '../../catalog/fields/kind.ts';
import { parseInstant, utcMilliseconds } from '../../catalog/fields/times.ts';

const DAY = 86_400_000;

/** An instant as the clocks of a zone show it. */
export interface LocalTime {
  /** What the clock shows, as UTC milliseconds of the same digits. */
  readonly wall: number;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** `HH:mm`, 24 hours. */
  readonly time: string;
  /** `:SS` within a minute, empty on the minute. */
  readonly second: string;
  /** ` -06:00` in an hour that the clocks show twice, otherwise empty. */
  readonly offset: string;
}

/** The clocks of one time zone (D56). */
export class LocalClock {
  private readonly format: Intl.DateTimeFormat;
  /** By UTC day: its offset, undefined where it may change. */
  private readonly steady = new Map<number, number | undefined>();

  constructor(/** IANA name. */ readonly zone: string) {
    // Only the offset is read. A weekday beside it takes half as long to format as a date.
    this.format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', weekday: 'short' });
  }

  /** The local time of an ISO instant with a zone or an offset; undefined for other text. */
  at(text: string): LocalTime | undefined {
    const instant = parseInstant(text, {});
    const local = typeof instant === 'number' ? this.of(Math.floor(instant)) : undefined;
    // A zone may be in the year 10000 already, which has no such digits.
    return local !== undefined && /^\d/.test(local.date) ? local : undefined;
  }

  /** The local time of UTC milliseconds. */
  of(instant: number): LocalTime {
    const steady = this.steadyOffset(Math.floor(instant / DAY));
    const offset = steady ?? this.offsetAt(instant);
    const wall = instant + offset;
    const isDoubled = steady === undefined && this.isDoubled(instant, offset);
    const text = new Date(wall).toISOString();
    const second = text.slice(16, 19);
    return {
      wall,
      date: text.slice(0, 10),
      time: text.slice(11, 16),
      second: second === ':00' ? '' : second,
      offset: isDoubled ? ` ${offsetOf(offset)}` : '',
    };
  }

  /**
   * UTC milliseconds of what the clocks show. A time that they leave out moves forward by the gap; of one that they show
   * twice it is the first (D39).
   */
  instantOf(wall: WallClock): number {
    const asUtc = utcMilliseconds(wall);
    const before = this.aheadAt(asUtc - DAY);
    // The offset before a change makes the earlier instant of a doubled time, and moves a skipped one forward.
    const early = asUtc - before;
    if (this.aheadAt(early) === before) return early;
    const after = this.aheadAt(asUtc + DAY);
    const late = asUtc - after;
    return this.aheadAt(late) === after ? late : early;
  }

  /** Milliseconds that local time is ahead of UTC, looked up anew: `of` remembers those of whole days. */
  offsetAt(instant: number): number {
    const text = this.format.format(instant);
    const [, sign, hours, minutes, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
    const amount = ((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -amount : amount;
  }

  private aheadAt(instant: number): number {
    return this.of(instant).wall - instant;
  }

  private steadyOffset(day: number): number | undefined {
    if (!this.steady.has(day)) {
      const [before, after] = [this.offsetAt((day - 1) * DAY), this.offsetAt((day + 2) * DAY)];
      this.steady.set(day, before === after ? before : undefined);
    }
    return this.steady.get(day);
  }

  /** Whether the clocks show the time of this instant at another one too. */
  private isDoubled(instant: number, offset: number): boolean {
    const others = [this.offsetAt(instant - DAY), this.offsetAt(instant + DAY)].filter((other) => other !== offset);
    return others.some((other) => this.offsetAt(instant + offset - other) === other);
  }
}

function offsetOf(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** `2026-11-24 08:00`, with the offset in an hour that the clocks show twice; text that is no instant as it is. */
export function minuteText(text: string, clock: LocalClock): string {
  const local = clock.at(text);
  return local === undefined ? text : `${local.date} ${local.time}${local.offset}`;
}

/** The same, down to the second where it is within a minute. */
export function secondText(text: string, clock: LocalClock): string {
  const local = clock.at(text);
  return local === undefined ? text : `${local.date} ${local.time}${local.second}${local.offset}`;
}

/** The same with seconds and offset, for programs: `2026-11-24T08:00:00-06:00`. */
export function offsetText(text: string, clock: LocalClock): string {
  const instant = parseInstant(text, {});
  const local = clock.at(text);
  if (local === undefined || typeof instant !== 'number') return text;
  return `${new Date(local.wall).toISOString().slice(0, 19)}${offsetOf(local.wall - Math.floor(instant))}`;
}
