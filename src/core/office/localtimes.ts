import { type LocalClock, offsetText } from '../output/localclock.ts';
import type { OfficeColumn } from './report.ts';
import type { OfficeRow } from './result.ts';

/** Columns with `FIELDLocal` behind each instant, and rows with the local times: `2026-11-24T08:00:00-06:00`. */
export function withLocalTimes(
  columns: readonly OfficeColumn[],
  rows: readonly OfficeRow[],
  clockOf: (row: OfficeRow) => LocalClock,
): { readonly columns: readonly OfficeColumn[]; readonly rows: readonly OfficeRow[] } {
  const instants = columns.flatMap(({ name, kind }) => (kind === 'instant' ? [name] : []));
  return {
    columns: columns.flatMap((column): OfficeColumn[] =>
      column.kind === 'instant' ? [column, { name: localName(column.name), kind: 'text' }] : [column],
    ),
    rows: rows.map((row) => {
      const clock = clockOf(row);
      return { ...row, ...Object.fromEntries(instants.map((name) => [localName(name), localText(row[name], clock)])) };
    }),
  };
}

function localName(name: string): string {
  return `${name}Local`;
}

function localText(value: unknown, clock: LocalClock): string | null {
  return typeof value === 'string' ? offsetText(value, clock) : null;
}
