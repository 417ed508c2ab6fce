import { NAME_KINDS, type NameKind } from '../names/namerows.ts';
import { RowOrder, type SortKey } from '../sorting/roworder.ts';
import type { OfficeColumn } from './report.ts';
import type { OfficeRow } from './result.ts';
import { rowColumn } from './rowreader.ts';

/** The place that the names file gives to an id; undefined for those that come last. */
export type PlaceOf = (kind: NameKind, id: string) => number | undefined;

/**
 * Rows in the order of a report (`OfficeReport.order`): locations, providers and operatories by the names file, then by
 * id. Ties by id, of the patient where a row has none of its own.
 */
export function inOrder(
  rows: readonly OfficeRow[],
  order: readonly string[],
  columns: readonly OfficeColumn[],
  placeOf: PlaceOf,
): OfficeRow[] {
  const keys = order.flatMap((text): SortKey[] => {
    const descending = text.startsWith('-');
    const name = descending ? text.slice(1) : text;
    const kind = NAME_KINDS.find((each) => name === each || name === `${each}.id`);
    if (kind === undefined) return [{ column: rowColumn(columnNamed(name, columns)), descending }];
    const place = rowColumn({ name: placeName(kind), kind: 'count' });
    return [
      { column: place, descending },
      { column: rowColumn({ name: `${kind}.id`, kind: 'id' }), descending },
    ];
  });
  const places = NAME_KINDS.filter((kind) => keys.some(({ column }) => column.name === placeName(kind)));
  return orderOf(keys, columns).sorted(rows, (row) => {
    return { ...row, ...Object.fromEntries(places.map((kind) => [placeName(kind), placeIn(row, kind, placeOf)])) };
  });
}

/** The order of `--sort`; ties by id, of the patient, or of what the row is a group of, where a row has none of its own. */
export function orderOf(keys: readonly SortKey[], columns: readonly OfficeColumn[]): RowOrder {
  const hasId = columns.some(({ name }) => name === 'id');
  const group = columns.slice(0, 1).find(({ kind }) => kind === 'id');
  const own = columns.find(({ name }) => name === 'patient.id') ?? group;
  return new RowOrder(hasId || own === undefined ? keys : [...keys, { column: rowColumn(own), descending: false }]);
}

function placeName(kind: NameKind): string {
  return `${kind}.order`;
}

function placeIn(row: OfficeRow, kind: NameKind, placeOf: PlaceOf): number | undefined {
  const id = row[`${kind}.id`];
  return id === null || id === undefined ? undefined : placeOf(kind, String(id));
}

function columnNamed(name: string, columns: readonly OfficeColumn[]): OfficeColumn {
  const column = columns.find((each) => each.name === name);
  if (column === undefined) throw new Error(`The report has no column ${name} to be sorted by.`);
  return column;
}
