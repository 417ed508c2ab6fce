import type { Column } from '../output/columns.ts';
import { ByteToken } from './bytetoken.ts';
import { Code } from './codes.ts';
import type { JsonBytes } from './jsonbytes.ts';

/** What the bytes of a value are. */
export const Found = {
  /** Null, or not in the record. */
  nothing: 0,
  /** A string as it stands between its quotes. */
  text: 1,
  /** The same, with a comma. */
  textWithComma: 2,
  /** A number or boolean, as it stands. */
  word: 3,
  /** An array or object, as it stands. */
  nested: 4,
  /** JSON that has to be parsed. */
  json: 5,
} as const;

/** One field of a record, at its place. */
interface Step {
  /** What stands before its value: `{"id":`, `,"lastName":`. */
  readonly lead: ByteToken;
  /** Index of the column that shows it. */
  readonly slot: number;
  /** Where columns show parts of it. */
  readonly parts: readonly Part[];
  readonly isId: boolean;
}

/** A member of a linked record: `"id":`. */
interface Part {
  readonly lead: ByteToken;
  readonly slot: number;
}

const NONE = -1;

/** A page whose records have more forms than that takes less time to parse. */
const MOST_FORMS = 3;

/**
 * Finds the values of records in the bytes of a page, without parsing them. The records of a page have the same fields in
 * the same order, so the names are learnt from the first one and only compared in the others; a record of another form
 * is learnt anew.
 */
export class RecordBytes {
  /** Where the values of the columns stand in the last record that was read, and what they are (`Found`). */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly found: Uint8Array;
  /** The whole of that record stands as JSON.stringify would write it. */
  plain = true;
  private readonly columns: readonly Column[];
  /** No column shows a part of what another one shows, or a part of a part. */
  private readonly isSimple: boolean;
  private steps: readonly Step[] = [];
  /** Forms that this page has shown. */
  private learnt = 0;
  private idStart = 0;
  private idEnd = 0;

  constructor(columns: readonly Column[]) {
    this.columns = columns;
    const whole = new Set(columns.flatMap(({ path }) => (path.length === 1 ? path : [])));
    this.isSimple = columns.every(
      ({ path: [field = '', ...parts] }) => parts.length < 2 && (parts.length === 0 || !whole.has(field)),
    );
    // The last one takes what no column shows.
    this.starts = new Int32Array(columns.length + 1);
    this.ends = new Int32Array(columns.length + 1);
    this.found = new Uint8Array(columns.length + 1);
  }

  /** To be called before the first record of a page. */
  begin(): void {
    this.learnt = 0;
  }

  /** Steps over the record that begins here. False where that cannot be done; then the page has to be parsed. */
  read(json: JsonBytes): boolean {
    const start = json.at;
    if (this.steps.length > 0 && this.readForm(json)) return true;
    json.at = start;
    if (!this.isSimple || this.learnt++ === MOST_FORMS || !this.learn(json)) return false;
    json.at = start;
    return this.readForm(json);
  }

  /** The id of that record as JSON.parse reads it. */
  id(json: JsonBytes): unknown {
    const { idStart, idEnd } = this;
    let id = 0;
    for (let at = idStart; at < idEnd; at++) {
      const digit = (json.bytes[at] as number) - Code.zero;
      if (digit < 0 || digit > 9 || idEnd - idStart > 15) return parsed(json.bytes, idStart, idEnd);
      id = id * 10 + digit;
    }
    return idEnd > idStart ? id : undefined;
  }

  private readForm(json: JsonBytes): boolean {
    this.plain = true;
    for (const step of this.steps) {
      if (!json.token(step.lead) || !this.readValue(json, step)) return false;
    }
    if (json.bytes[json.at] !== Code.closeObject) return false;
    json.at++;
    return true;
  }

  private readValue(json: JsonBytes, step: Step): boolean {
    const { slot, parts } = step;
    const start = json.at;
    for (const part of parts) this.found[part.slot] = Found.nothing;
    const isLink = parts.length > 0 && json.bytes[start] === Code.openObject;
    if (!(isLink ? this.readLink(json, parts) : this.readSlot(json, slot))) return false;
    if (!step.isId) return true;
    this.idStart = start;
    this.idEnd = json.at;
    return true;
  }

  private readLink(json: JsonBytes, parts: readonly Part[]): boolean {
    if (json.bytes[json.at + 1] === Code.closeObject) {
      json.at += 2;
      return true;
    }
    do {
      json.at++;
      const slot = slotOf(json, parts, this.columns.length);
      if (slot === NONE || !this.readSlot(json, slot)) return false;
    } while (json.bytes[json.at] === Code.comma);
    return json.bytes[json.at++] === Code.closeObject;
  }

  private readSlot(json: JsonBytes, slot: number): boolean {
    const start = json.at;
    json.plain = true;
    json.comma = false;
    const first = json.bytes[start];
    if (!json.value()) return false;
    const isText = first === Code.quote;
    if (!json.plain) {
      this.plain = false;
      if (!isJson(json.bytes, start, json.at)) return false;
      this.found[slot] = Found.json;
    } else if (isText) this.found[slot] = json.comma ? Found.textWithComma : Found.text;
    else if (first === Code.n) this.found[slot] = Found.nothing;
    else this.found[slot] = first === Code.openObject || first === Code.openArray ? Found.nested : Found.word;
    const inner = isText && json.plain ? 1 : 0;
    this.starts[slot] = start + inner;
    this.ends[slot] = json.at - inner;
    return true;
  }

  private learn(json: JsonBytes): boolean {
    const start = json.at;
    if (json.bytes[start] !== Code.openObject || !json.value() || !isJson(json.bytes, start, json.at)) return false;
    const names = Object.keys(parsed(json.bytes, start, json.at) as object);
    this.steps = names.map((name, index) => this.stepOf(name, index));
    this.found.fill(Found.nothing);
    this.idStart = this.idEnd = 0;
    return names.length > 0;
  }

  private stepOf(name: string, index: number): Step {
    const slot = this.columns.findIndex(({ path }) => path.length === 1 && path[0] === name);
    const parts = this.columns.flatMap(({ path: [field, part] }, at) =>
      field === name && part !== undefined ? [{ lead: new ByteToken(`${JSON.stringify(part)}:`), slot: at }] : [],
    );
    return {
      lead: new ByteToken(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
      slot: slot < 0 ? this.columns.length : slot,
      parts,
      isId: name === 'id',
    };
  }
}

/** Steps over the name of a member, and tells the column that shows it; `NONE` where that cannot be done. */
function slotOf(json: JsonBytes, parts: readonly Part[], other: number): number {
  for (const { lead, slot } of parts) if (json.token(lead)) return slot;
  json.plain = true;
  const isName = json.bytes[json.at] === Code.quote && json.string() && json.plain;
  return isName && json.bytes[json.at++] === Code.colon ? other : NONE;
}

/** The value in a part of a text. Throws a SyntaxError. */
export function parsed(bytes: Uint8Array, start: number, end: number): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'));
}

function isJson(bytes: Uint8Array, start: number, end: number): boolean {
  try {
    parsed(bytes, start, end);
    return true;
  } catch {
    return false;
  }
}
