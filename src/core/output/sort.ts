import type { Row } from '../pages/page.ts';
import { type Column, cellText, valueAt } from './columns.ts';

export interface SortOrder {
  readonly column: Column;
  readonly descending: boolean;
}

/** Compares records by one column: numbers by value, text by the alphabet, records without a value last. */
export function compareRows(order: SortOrder): (a: Row, b: Row) => number {
  const collator = new Intl.Collator('en', { numeric: true });
  return (a, b) => {
    const [left, right] = [valueAt(a, order.column), valueAt(b, order.column)];
    const missing = Number(isMissing(left)) - Number(isMissing(right));
    if (missing !== 0) return missing;
    const ascending =
      typeof left === 'number' && typeof right === 'number'
        ? left - right
        : collator.compare(cellText(left), cellText(right));
    return order.descending ? -ascending : ascending;
  };
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}
