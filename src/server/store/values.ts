/**
 * The values of a statement as every store takes them: 0 and 1 for truth values, NULL for what is missing, and text
 * without NUL characters. PostgreSQL cannot hold them, so no store does; the JSON of a record escapes them and keeps them.
 */
export function boundValues(values: readonly unknown[]): unknown[] {
  return values.map(boundValue);
}

function boundValue(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '') : value;
  if (typeof value === 'boolean') return Number(value);
  return value === undefined ? null : value;
}
