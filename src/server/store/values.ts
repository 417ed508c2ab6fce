/**
 * The values of a statement as every store takes them: 0 and 1 for truth values, NULL for what is missing, and U+FFFD
 * for each NUL character. PostgreSQL cannot hold those, and no record has any (D9): a filter for them finds nothing.
 */
export function boundValues(values: readonly unknown[]): unknown[] {
  return values.map(boundValue);
}

function boundValue(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\u{FFFD}') : value;
  if (typeof value === 'boolean') return Number(value);
  return value === undefined ? null : value;
}
