import type { WallClock } from '../../../src/catalog/fields/kind.ts';
import type { FilterContext } from '../../../src/catalog/filter/values.ts';

/** A time zone five hours behind UTC, all year. */
export const fiveBehind: FilterContext = {
  instantOf: (wall: WallClock) =>
    Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second, wall.millisecond) +
    5 * 3_600_000,
};
