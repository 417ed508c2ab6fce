import { isAscii } from 'node:buffer';
import { JsonBytes, NONE } from '../jsonscan/jsonbytes.ts';
import { Code } from '../jsonscan/tokens.ts';

// Names of this module: those of others are looked up with each byte once the program is bundled, a third of a first load.
const { quote, backslash, comma, colon, openArray, closeArray, openObject, closeObject } = Code;

/** The texts in a page. */
export interface PageTexts {
  /** The records in its `data`, each as it is written there. */
  readonly records: readonly string[];
  /** All else, with a `data` that is empty. */
  readonly envelope: string;
}

/**
 * The texts in a page, in valid UTF-8; undefined where it is written otherwise than most services do: with blanks between
 * its values, or `data` twice. They may be wrong JSON. Text by text they take half of the time of a page at once, and
 * less memory: few have characters beyond ASCII, and what is as large as a page is got from the system each time.
 */
export function pageTexts(page: Uint8Array): PageTexts | undefined {
  const start = startOfData(page);
  if (start === NONE) return undefined;
  const bytes = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const records: string[] = [];
  let at = start;
  while (page[at] !== closeArray) {
    if (records.length > 0 && page[at++] !== comma) return undefined;
    const end = endOfObject(page, at);
    if (end === NONE) return undefined;
    records.push(textOf(bytes, at, end));
    at = end;
  }
  const rest = textOf(bytes, at, page.length);
  if (ANOTHER_DATA.test(rest)) return undefined;
  return { records, envelope: textOf(bytes, 0, start) + rest };
}

/** Of members with the same name the last one counts, and a name may be written with escapes. */
const ANOTHER_DATA = /"data"|\\/;

function textOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString(isAscii(bytes.subarray(start, end)) ? 'latin1' : 'utf8', start, end);
}

/** Behind the bracket that opens the list `data` of a page. */
function startOfData(page: Uint8Array): number {
  const json = new JsonBytes();
  json.open(page);
  if (page[0] !== openObject) return NONE;
  do {
    const name = ++json.at;
    if (page[name] !== quote || !json.string() || page[json.at++] !== colon) return NONE;
    const isData = json.at - name === DATA.length && DATA.every((code, at) => page[name + at] === code);
    if (isData) return page[json.at] === openArray ? json.at + 1 : NONE;
    if (!json.value()) return NONE;
  } while (page[json.at] === comma);
  return NONE;
}

const DATA = Buffer.from('"data":');

const SPACE = 0x20;

/** Behind the object that begins at a place, by its brackets alone; `NONE` where none ends or it has blanks. */
function endOfObject(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== openObject) return NONE;
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const code = bytes[at] as number;
    // Digits and what stands between values are most of what is outside strings.
    if (code > quote && code < openArray) continue;
    if (code === quote) at = endOfString(bytes, at);
    else if (code === openObject || code === openArray) depth++;
    else if (code === closeObject || code === closeArray) {
      if (--depth === 0) return at + 1;
    } else if (code <= SPACE) return NONE;
  }
  return NONE;
}

/** Where the string ends that begins at a place; the end of the bytes for one that does not. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < bytes.length && bytes[at] !== quote; at++) {
    if (bytes[at] === backslash) at++;
  }
  return at;
}
