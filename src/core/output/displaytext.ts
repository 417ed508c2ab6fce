import { isPlainObject } from '../../catalog/fields/kind.ts';
import { centsOf, dollarsText } from '../reports/money.ts';
import { cellText } from './columns.ts';
import { type LocalClock, minuteText, secondText } from './localclock.ts';
import { terminalText } from './terminaltext.ts';

/**
 * A value as people read it in a table: dollars with their cents, instants to the minute by the clock, the entries of
 * a list separated by commas. Free of control characters. Only date-times need the clock.
 */
export function tableText(value: unknown, kind: string | undefined, clock?: LocalClock): string {
  if (Array.isArray(value)) return value.map(entryText).join(value.some(isPlainObject) ? '; ' : ', ');
  if (kind === 'dateTime' && clock !== undefined) return terminalText(minuteText(cellText(value), clock));
  return fieldText(value, kind, clock);
}

/** A value as people read it beside its name: an entry of a list per line, instants to the second by the clock. */
export function fieldText(value: unknown, kind: string | undefined, clock?: LocalClock): string {
  if (Array.isArray(value)) return value.map(entryText).join('\n');
  if (isPlainObject(value)) return entryText(value);
  if (kind === 'dateTime' && clock !== undefined) return terminalText(secondText(cellText(value), clock));
  return terminalText((kind === 'dollars' ? wholeCents(value) : undefined) ?? cellText(value));
}

/** An object within a record on one line, without its empty fields: `phoneType HOME, number 555-0100`. */
function entryText(value: unknown): string {
  if (!isPlainObject(value)) return terminalText(cellText(value));
  const filled = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
  const [only] = filled;
  if (filled.length === 1 && only?.[0] === 'id') return terminalText(cellText(only[1]));
  // Keys that only count (D24) carry no information.
  const isCounted = filled.every(([name]) => /^\d+$/.test(name));
  return filled.map(([name, part]) => (isCounted ? '' : `${terminalText(name)} `) + entryText(part)).join(', ');
}

function wholeCents(value: unknown): string | undefined {
  const cents = typeof value === 'number' ? centsOf(value) : undefined;
  return cents !== undefined && cents / 100 === value ? dollarsText(cents) : undefined;
}
