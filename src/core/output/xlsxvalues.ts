import { isDate } from '../../catalog/fields/times.ts';
import { type SheetKind, WALL_TIME } from './xlsxcells.ts';

/** An instant as a mirror stores it. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** The values of a column that no catalog knows, such as one of a query: what all of them are. */
export class SeenValues {
  private readonly kinds = new Set<SheetKind | 'integer'>();

  see(value: unknown): void {
    if (value !== null && value !== undefined) this.kinds.add(kindOfValue(value));
  }

  /** Also where there are none. */
  get areIntegers(): boolean {
    return this.kinds.size === 0 || this.only === 'integer';
  }

  /** Dates and times when they all are; otherwise `number`, which leaves text as it is. */
  get kind(): SheetKind {
    const { only } = this;
    return only === undefined || only === 'integer' ? 'number' : only;
  }

  private get only(): SheetKind | 'integer' | undefined {
    const [first, ...others] = this.kinds;
    return others.length === 0 ? first : undefined;
  }
}

function kindOfValue(value: unknown): SheetKind | 'integer' {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value !== 'string') return 'text';
  if (isDate(value)) return 'date';
  if (INSTANT.test(value)) return 'instant';
  return WALL_TIME.test(value) ? 'wall' : 'text';
}
