import { type MirrorRecord, recordOf } from '../records.ts';
import type { ColumnType } from '../tables.ts';
import type { StoredValue } from '../values.ts';

/** What stands for characters that PostgreSQL does not have: U+0000, and halves of surrogate pairs. */
const REPLACEMENT = '\ufffd';

const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * A value as the text of its type in PostgreSQL; null for none. What does not have the form of its type is null too: unlike
 * SQLite, a typed column cannot hold it. It stands in the record as it came (D52).
 */
export function postgresText(type: ColumnType, value: StoredValue): string | null {
  if (value === null) return null;
  switch (type) {
    case 'integer':
    case 'cents':
      return wholeNumber(String(value));
    case 'boolean':
      return BOOLEANS[String(value)] ?? null;
    case 'number':
      return NUMBER.test(String(value)) ? String(value) : null;
    case 'date':
      return isInstant(`${value}T00:00:00.000Z`) ? String(value) : null;
    case 'instant':
      return isInstant(String(value)) ? String(value) : null;
    case 'json':
      return storableJson(String(value));
    default:
      return String(value).replaceAll('\0', REPLACEMENT);
  }
}

const BOOLEANS: Readonly<Record<string, string>> = { 0: 'f', 1: 't', false: 'f', true: 't' };
const NUMBER = /^-?\d{1,1000}(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,3})?$/;

function wholeNumber(text: string): string | null {
  if (!/^-?\d{1,19}$/.test(text)) return null;
  if (text.length < 19) return text;
  const number = BigInt(text);
  return number <= MAX_INTEGER && number >= -MAX_INTEGER ? text : null;
}

const INSTANT = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether a text is an instant of the calendar, `YYYY-MM-DDTHH:mm:ss.SSSZ`; PostgreSQL has no year 0. */
function isInstant(text: string): boolean {
  const [, day] = INSTANT.exec(text) ?? [];
  if (day === undefined || day === '00') return false;
  // Every month has these.
  return day <= '28' || new Date(text).toISOString() === text;
}

/** A pair of escaped surrogates, one of what PostgreSQL does not take, or any other escape. */
const ESCAPES =
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})|\\[\s\S]/g;

/** JSON that `jsonb` takes. */
export function storableJson(json: string): string {
  if (!json.includes('\\u')) return json;
  return json.replace(ESCAPES, (escaped: string, refused: string | undefined) =>
    refused === undefined ? escaped : REPLACEMENT,
  );
}

/** A record that `jsonb` takes. */
export function storableRecord(record: MirrorRecord): MirrorRecord {
  const text = storableJson(record.text);
  return text === record.text ? record : recordOf(text);
}

/** JSON as `jsonb` writes it, without blanks. */
export function withoutBlanks(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? token : ''));
}
