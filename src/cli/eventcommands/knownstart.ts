import { isDate } from '../../catalog/fields/times.ts';
import type { KnownStart } from '../../core/recurrence/recurrence.ts';

const LOCAL = /^(\d{4}-\d{2}-\d{2})[T +](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?$/i;

/**
 * What a body says of the local start of its event. A time without a zone stands in that of the location (D7), which
 * is not known here: of any other time, nothing is known but that whole days begin at midnight.
 */
export function knownStart(body: Readonly<Record<string, unknown>>): KnownStart {
  const wholeDay = body.allDay === true;
  const match = typeof body.start === 'string' ? LOCAL.exec(body.start.trim()) : null;
  const [, date = '', hour, minute, second = '0'] = match ?? [];
  if (match === null || !isDate(date)) return wholeDay ? { second: 0 } : {};
  return { date, second: wholeDay ? 0 : Number(hour) * 3600 + Number(minute) * 60 + Number(second) };
}
