import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { Row } from '../pages/page.ts';
import { bodyText, type Envelope, readEnvelope } from '../transport/envelope.ts';
import { memberTexts, objectText } from './jsonmembers.ts';
import { pageTexts } from './recordtexts.ts';
import { UNMIRRORED_FIELDS } from './tables.ts';

/** A record as it came: its text, and its values. Numbers that a JavaScript number cannot hold are text of their digits. */
export class MirrorRecord {
  constructor(
    /** A number, or digits. */
    readonly id: unknown,
    /** JSON without `UNMIRRORED_FIELDS`. */
    readonly text: string,
    readonly values: Row,
  ) {}
}

/** The record in a text, which must be a JSON object. */
export function recordOf(text: string): MirrorRecord {
  return recordFrom(text, JSON.parse(withExactNumbers(text)) as Row);
}

function recordFrom(text: string, values: Row): MirrorRecord {
  const isWhole = UNMIRRORED_FIELDS.every((name) => !Object.hasOwn(values, name));
  return new MirrorRecord(values.id, isWhole ? text : cutText(text, values), values);
}

/** A record with only these fields. */
export function onlyFields({ id, text, values }: MirrorRecord, fields: ReadonlySet<string>): MirrorRecord {
  const kept = Object.fromEntries(Object.entries(values).filter(([name]) => fields.has(name)));
  const members = memberTexts(text);
  const texts = members && [...members].filter(([name]) => fields.has(name)).map(([, member]) => member);
  return new MirrorRecord(id, texts === undefined ? JSON.stringify(kept) : objectText(texts), kept);
}

/** A record with the fields that a change names, in the order of the record; both are JSON objects. */
export function changedRecord(record: string, change: string): MirrorRecord {
  const [before, fields] = [memberTexts(record), memberTexts(change)];
  if (before === undefined || fields === undefined)
    return recordOf(JSON.stringify({ ...JSON.parse(record), ...JSON.parse(change) }));
  for (const [name, member] of fields) before.set(name, member);
  return recordOf(objectText(before.values()));
}

/** More digits than a JavaScript number holds for certain, after what comes before a number in JSON. */
const LONG_NUMBER = /[[:,]\s*-?\d[\d.]{15}/;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{15,}/g;

/** JSON with its long numbers as text, so that no digit is lost when it is parsed. */
function withExactNumbers(json: string): string {
  if (!LONG_NUMBER.test(json)) return json;
  return json.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"${token}"`));
}

/**
 * Reads a page into `MirrorRecord`s. Their text is that of the page, byte for byte, where the service writes JSON without
 * blanks, as most do; else it is written anew.
 */
export function readRecords(body: Uint8Array): Envelope | undefined {
  const texts = pageTexts(body);
  const envelope = texts && readEnvelope(withExactNumbers(texts.envelope));
  const data = texts && recordsOf(texts.records);
  if (envelope !== undefined && data !== undefined) return { ...envelope, data };
  const parsed = readEnvelope(withExactNumbers(bodyText(body)));
  const rows = parsed?.data;
  if (parsed === undefined || !Array.isArray(rows) || !rows.every(isPlainObject)) return parsed;
  return { ...parsed, data: rows.map((values) => recordOf(JSON.stringify(values))) };
}

/** The records in texts that are objects where they are JSON; undefined where they are not. */
function recordsOf(texts: readonly string[]): readonly MirrorRecord[] | undefined {
  try {
    return texts.map(recordOf);
  } catch {
    // Then the response is read as a whole, and tells by itself what is wrong.
    return undefined;
  }
}

/** Reads the response with one record into a `MirrorRecord`. */
export function readOneRecord(body: Uint8Array): Envelope | undefined {
  const text = bodyText(body);
  const envelope = readEnvelope(withExactNumbers(text));
  if (!isPlainObject(envelope?.data)) return envelope;
  const data = memberTexts(text)
    ?.get('data')
    ?.replace(/^"data":/, '');
  return { ...envelope, data: recordOf(data ?? JSON.stringify(envelope.data)) };
}

/** The text of a record without `UNMIRRORED_FIELDS`. */
function cutText(record: string, values: Row): string {
  const members = memberTexts(record);
  const isKept = ([name]: readonly [string, unknown]) => !UNMIRRORED_FIELDS.includes(name);
  if (members === undefined) return JSON.stringify(Object.fromEntries(Object.entries(values).filter(isKept)));
  return objectText([...members].filter(isKept).map(([, member]) => member));
}
