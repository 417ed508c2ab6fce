import { isPlainObject } from '../../catalog/fields/kind.ts';
import { centsOf, dollarsText } from '../reports/money.ts';
import { cellText } from './columns.ts';
import { terminalText } from './terminaltext.ts';

/**
 * A value as people read it in a table: dollars with their cents, instants without the parts that are zero, the
 * entries of a list apart by commas. Free of control characters.
 */
export function tableText(value: unknown, kind: string | undefined): string {
  if (Array.isArray(value)) return value.map(entryText).join(value.some(isPlainObject) ? '; ' : ', ');
  if (kind === 'dateTime') return terminalText(shortInstant(cellText(value)));
  return fieldText(value, kind);
}

/** A value as people read it beside its name; a list has an entry a line, and nothing is shortened. */
export function fieldText(value: unknown, kind: string | undefined): string {
  if (Array.isArray(value)) return value.map(entryText).join('\n');
  if (isPlainObject(value)) return entryText(value);
  return terminalText((kind === 'dollars' ? wholeCents(value) : undefined) ?? cellText(value));
}

/** An object within a record on one line, without what it leaves empty: `phoneType HOME, number 555-0100`. */
function entryText(value: unknown): string {
  if (!isPlainObject(value)) return terminalText(cellText(value));
  const filled = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
  const [only] = filled;
  if (filled.length === 1 && only?.[0] === 'id') return terminalText(cellText(only[1]));
  // Keys that only count (D24) say nothing.
  const isCounted = filled.every(([name]) => /^\d+$/.test(name));
  return filled.map(([name, part]) => (isCounted ? '' : `${terminalText(name)} `) + entryText(part)).join(', ');
}

/** `2026-03-02T15:00Z` for an instant on the minute, otherwise down to its second; other text as it is. */
function shortInstant(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::00(?:\.0+)?|(:\d\d)\.\d+)Z$/, '$1$2Z');
}

function wholeCents(value: unknown): string | undefined {
  const cents = typeof value === 'number' ? centsOf(value) : undefined;
  return cents !== undefined && cents / 100 === value ? dollarsText(cents) : undefined;
}
