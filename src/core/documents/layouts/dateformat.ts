import { isDate } from '../../../catalog/fields/times.ts';

/** A way of writing dates: where year, month and day stand between other text. */
export type DateFormat = RegExp;

const PARTS: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  MM: '(?<month>\\d\\d)',
  DD: '(?<day>\\d\\d)',
};

const isPart = (piece: string) => Object.hasOwn(PARTS, piece);

/** Reads `MM-DD-YYYY` and the like: YYYY, MM and DD once each, no other letter; undefined for anything else. */
export function readDateFormat(format: string): DateFormat | undefined {
  const pieces = format.split(/(YYYY|MM|DD)/);
  const names = pieces.filter(isPart);
  const isComplete = names.length === 3 && new Set(names).size === 3;
  if (!isComplete || /[\p{L}/]/u.test(pieces.filter((piece) => !isPart(piece)).join(''))) return undefined;
  const pattern = pieces.map((piece) => PARTS[piece] ?? piece.replace(/[\\^$.*+?()[\]|]/g, '\\$&'));
  return new RegExp(`^${pattern.join('')}$`, 'u');
}

/** How dates are written unless a pattern says otherwise: `YYYY-MM-DD` or `YYYYMMDD`. */
export const ISO_FORMATS: readonly DateFormat[] = ['YYYY-MM-DD', 'YYYYMMDD'].flatMap(
  (format) => readDateFormat(format) ?? [],
);

/** The date, `YYYY-MM-DD`, that a text of this format means; undefined for other text and days that do not exist. */
export function writtenDate(text: string, format: DateFormat): string | undefined {
  const { year, month, day } = format.exec(text)?.groups ?? {};
  const date = `${year}-${month}-${day}`;
  return isDate(date) ? date : undefined;
}
