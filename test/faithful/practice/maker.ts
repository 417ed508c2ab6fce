import type { Moods } from '../moods.ts';
import type { Draws } from '../random.ts';
import type { Fields, Practice, Resource, Shelf } from '../store.ts';

const DAY = 86_400_000;
const YEARS = 12;

/** What the makers of records have in common. */
export class Maker {
  readonly practice: Practice;
  readonly moods: Moods;
  readonly draws: Draws;
  readonly now: number;
  /** The instant of a migration that touched many records at once. */
  private readonly migration: string;
  private readonly ids = new Map<Resource, number[]>();

  constructor(practice: Practice, moods: Moods, draws: Draws, now: number) {
    this.practice = practice;
    this.moods = moods;
    this.draws = draws;
    this.now = now;
    this.migration = this.past();
  }

  /** Stores a record under a free id and returns it. */
  add(resource: Resource, fields: Fields, created = this.now - this.draws.whole(1, YEARS * 365) * DAY): number {
    const id = freeId(this.practice.shelves[resource], this.draws);
    const ids = this.ids.get(resource);
    if (ids) ids.push(id);
    else this.ids.set(resource, [id]);
    this.practice.shelves[resource].put({ id, created, record: { id, ...fields } });
    return id;
  }

  /** An instant of the last twelve years. */
  past(): string {
    return this.instant(-YEARS * 365 * DAY, 0);
  }

  /** An instant between two distances from now, in milliseconds. */
  instant(from: number, to: number): string {
    return new Date(this.now + from + Math.floor(this.draws.fraction() * (to - from))).toISOString();
  }

  /** When a record was last changed; a fifth of all at one and the same instant. */
  modified(): string {
    return this.draws.chance(0.2) ? this.migration : this.past();
  }

  /** As `modified`, or null for a few records where that is the mood. */
  modifiedOrNever(): string | null {
    return this.moods.undatedRecords && this.draws.chance(0.08) ? null : this.modified();
  }

  day(): string {
    return this.past().slice(0, 10);
  }

  /** The value, or null every third time. */
  maybe<T>(value: T): T | null {
    return this.draws.chance(0.33) ? null : value;
  }

  /** A listed value, or now and then one that no document lists. */
  listed(values: readonly string[], unknown: string): string {
    return this.moods.unknownEnums && this.draws.chance(0.1) ? unknown : this.draws.one(values);
  }

  linkTo(resource: Resource): { id: number } | null {
    const ids = this.ids.get(resource);
    return ids ? { id: this.draws.one(ids) } : null;
  }

  location(): { id: number } {
    return { id: this.draws.one(this.practice.locations).id };
  }

  /** An active person. */
  provider(): { id: number } {
    const fit = this.practice.providers.filter(({ isActive, isNonPersonEntity }) => isActive && !isNonPersonEntity);
    return { id: this.draws.one(fit).id };
  }

  /** An operatory of a location. */
  operatory(location: number): { id: number } {
    return { id: this.draws.one(this.practice.operatories.filter((one) => one.location === location)).id };
  }
}

/** An id of 10 to 14 digits that the shelf does not have. */
export function freeId(shelf: Shelf, draws: Draws): number {
  for (;;) {
    const digits = draws.whole(10, 14);
    const id = Math.floor((1 + draws.fraction() * 9) * 10 ** (digits - 1));
    if (!shelf.get(id)) return id;
  }
}
