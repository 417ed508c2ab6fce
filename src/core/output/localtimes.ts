import type { Fields, Kind } from '../../catalog/fields/kind.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Row } from '../pages/page.ts';
import type { Column } from './columns.ts';
import { type LocalClock, offsetText } from './localclock.ts';

/** The name of the local time of an instant: `startLocal`. */
function localName(name: string): string {
  return `${name}Local`;
}

/** Columns with the local time right after each instant. */
export function withLocalColumns(columns: readonly Column[]): Column[] {
  return columns.flatMap((column) => {
    if (column.kind !== 'dateTime') return [column];
    const { name, path } = column;
    const local = [...path.slice(0, -1), localName(path.at(-1) ?? '')];
    return [column, { name: localName(name), path: local, isId: false, isWhole: true }];
  });
}

/** A record with the local time right after each instant, at any depth: `2026-11-24T08:00:00-06:00`; null where there is none. */
export function withLocalTimes(record: Row, fields: Fields, clock: LocalClock): Row {
  const entries = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    const kind = Object.hasOwn(fields, name) ? fields[name]?.kind : undefined;
    if (kind === undefined) return [[name, value]];
    if (kind.name !== 'dateTime') return [[name, within(value, kind, clock)]];
    return [
      [name, value],
      [localName(name), typeof value === 'string' ? offsetText(value, clock) : null],
    ];
  });
  return Object.fromEntries(entries);
}

function within(value: unknown, { fields, item }: Kind, clock: LocalClock): unknown {
  if (fields !== undefined && isPlainObject(value)) return withLocalTimes(value, fields, clock);
  return item !== undefined && Array.isArray(value) ? value.map((entry) => within(entry, item, clock)) : value;
}
