import type { OfficeColumn } from './report.ts';
import type { OfficeRow, OfficeValue } from './result.ts';

/** A row as JSON has it: the column `patient.firstName` is `{"patient":{"firstName":…}}`. */
export type NestedRow = Readonly<Record<string, OfficeValue | Readonly<Record<string, OfficeValue>>>>;

/** The columns of a row as nested objects, in their order; no value is null. */
export function nestedRow(row: OfficeRow, columns: readonly OfficeColumn[]): NestedRow {
  const nested: Record<string, OfficeValue | Record<string, OfficeValue>> = {};
  for (const { name } of columns) {
    const [head = '', part] = name.split('.');
    const value = row[name] ?? null;
    if (part === undefined) nested[head] = value;
    else nested[head] = { ...(nested[head] as Record<string, OfficeValue> | undefined), [part]: value };
  }
  return nested;
}
