import type { Column } from '../output/columns.ts';
import { isNested, type JsonBytes, NONE, NULL, textEnd, wholeEnd, wholeNumber } from './jsonbytes.ts';
import { ByteToken, Code } from './tokens.ts';

/** What the bytes of a value are. */
export const ValueKind = {
  /** Null, or not in the record. */
  nothing: 0,
  /** A string as it is between its quotes. */
  text: 1,
  /** The same, with a comma. */
  textWithComma: 2,
  /** A number or boolean, as it is. */
  word: 3,
  /** An array or object, as it is. */
  nested: 4,
  /** JSON that has to be parsed. */
  json: 5,
} as const;

/** One field of a record, in its order. */
interface Step {
  /** What comes before its value: `{"id":`, `,"lastName":`. */
  readonly lead: ByteToken;
  /** Index of the column that shows it. */
  readonly slot: number;
  /** Its parts that columns show. */
  readonly parts: readonly Part[];
  /** What comes before the only part that columns show, where it is first in its record: `{"id":`. */
  readonly link: ByteToken | undefined;
}

/** A member of a linked record: `"id":`. */
interface Part {
  readonly lead: ByteToken;
  readonly slot: number;
}

/** Maximum record layouts of a page; with more it is faster to parse. */
const MAX_LAYOUTS = 3;

/**
 * Finds the values of records in the bytes of a page, without parsing them. The records of a page have the same fields in
 * the same order, so the layout is learned from the first one and only compared in the others; another layout is
 * learned anew.
 */
export class RecordBytes {
  /** Where the values of the columns are in the last record that was read, and their `ValueKind`. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly found: Uint8Array;
  /** All of that record is written as JSON.stringify would write it. */
  plain = true;
  /** No column shows a part of what another one shows or of the id, or a part of a part. */
  private readonly isSimple: boolean;
  private steps: readonly Step[] = [];
  /** Layouts of this page so far. */
  private layouts = 0;
  private idSlot = NONE;

  constructor(private readonly columns: readonly Column[]) {
    const whole = new Set(columns.flatMap(({ path }) => (path.length === 1 ? path : [])));
    this.isSimple = columns.every(
      ({ path: [field = '', ...parts] }) =>
        parts.length < 2 && (parts.length === 0 || !(field === 'id' || whole.has(field))),
    );
    // After the columns come what none of them shows, and the id where none of them does.
    this.starts = new Int32Array(columns.length + 2);
    this.ends = new Int32Array(columns.length + 2);
    this.found = new Uint8Array(columns.length + 2);
  }

  /** To be called before the first record of a page. */
  begin(): void {
    this.layouts = 0;
  }

  /** Steps over the record that begins here; false where it cannot, and the page has to be parsed. */
  read(json: JsonBytes): boolean {
    const start = json.at;
    if (this.steps.length > 0 && this.readLayout(json)) return true;
    json.at = start;
    if (!this.isSimple || this.layouts++ === MAX_LAYOUTS || !this.learn(json)) return false;
    json.at = start;
    return this.readLayout(json);
  }

  /** The id of that record as JSON.parse reads it. */
  id({ bytes }: JsonBytes): unknown {
    const slot = this.idSlot;
    if (slot === NONE) return undefined;
    const start = this.starts[slot] as number;
    const end = this.ends[slot] as number;
    switch (this.found[slot]) {
      case ValueKind.nothing:
        return null;
      case ValueKind.text:
      case ValueKind.textWithComma:
        return parsed(bytes, start - 1, end + 1);
      default:
        return wholeNumber(bytes, start, end) ?? parsed(bytes, start, end);
    }
  }

  /** Steps over a record of the learned layout; common values go without a step of `json`. */
  private readLayout(json: JsonBytes): boolean {
    const { bytes, view } = json;
    const { steps } = this;
    let { at } = json;
    this.plain = true;
    for (let index = 0; index < steps.length; index++) {
      const step = steps[index] as Step;
      if (!step.lead.isAt(view, at, bytes.length)) return false;
      const start = at + step.lead.length;
      at =
        step.link === undefined ? this.common(json, step.slot, start) : this.commonLink(json, step.link, step, start);
      if (at !== NONE) continue;
      json.at = start;
      if (!this.readValue(json, step)) return false;
      at = json.at;
    }
    if (bytes[at] !== Code.closeObject) return false;
    json.at = at + 1;
    return true;
  }

  /** Where one of the most common values ends: plain text, null, or a whole number. `NONE` for any other. */
  private common({ bytes, view }: JsonBytes, slot: number, start: number): number {
    const code = bytes[start];
    if (code === Code.quote) {
      const end = textEnd(bytes, start + 1);
      return end === NONE ? NONE : this.record(slot, ValueKind.text, start + 1, end) + 1;
    }
    if (code === Code.n && NULL.isAt(view, start, bytes.length)) {
      this.found[slot] = ValueKind.nothing;
      return start + NULL.length;
    }
    const end = wholeEnd(bytes, start);
    return end === NONE ? NONE : this.record(slot, ValueKind.word, start, end);
  }

  /** The same of a linked record: null, or the one whole number that it is. */
  private commonLink({ bytes, view }: JsonBytes, link: ByteToken, { parts }: Step, start: number): number {
    const slot = (parts[0] as Part).slot;
    if (parts.length > 1) return NONE;
    if (bytes[start] === Code.n && NULL.isAt(view, start, bytes.length)) {
      this.found[slot] = ValueKind.nothing;
      return start + NULL.length;
    }
    if (!link.isAt(view, start, bytes.length)) return NONE;
    const end = wholeEnd(bytes, start + link.length);
    return end !== NONE && bytes[end] === Code.closeObject
      ? this.record(slot, ValueKind.word, start + link.length, end) + 1
      : NONE;
  }

  private record(slot: number, what: number, start: number, end: number): number {
    this.found[slot] = what;
    this.starts[slot] = start;
    this.ends[slot] = end;
    return end;
  }

  private readValue(json: JsonBytes, { slot, parts }: Step): boolean {
    for (const part of parts) this.found[part.slot] = ValueKind.nothing;
    const isLink = parts.length > 0 && json.bytes[json.at] === Code.openObject;
    return isLink ? this.readLink(json, parts) : this.readSlot(json, slot);
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
    if (!json.plain) {
      this.plain = false;
      this.record(slot, ValueKind.json, start, json.at);
      return isJson(json.bytes, start, json.at);
    }
    if (first === Code.quote)
      this.record(slot, json.comma ? ValueKind.textWithComma : ValueKind.text, start + 1, json.at - 1);
    else if (first === Code.n) this.found[slot] = ValueKind.nothing;
    else this.record(slot, isNested(first) ? ValueKind.nested : ValueKind.word, start, json.at);
    return true;
  }

  private learn(json: JsonBytes): boolean {
    const start = json.at;
    if (json.bytes[start] !== Code.openObject || !json.value() || !isJson(json.bytes, start, json.at)) return false;
    const names = Object.keys(parsed(json.bytes, start, json.at) as object);
    this.steps = names.map((name, index) => this.stepOf(name, index));
    this.found.fill(ValueKind.nothing);
    const id = names.indexOf('id');
    this.idSlot = this.steps[id]?.slot ?? NONE;
    return names.length > 0;
  }

  private stepOf(name: string, index: number): Step {
    const slot = this.columns.findIndex(({ path }) => path.length === 1 && path[0] === name);
    const parts = this.columns.flatMap(({ path: [field, part] }, at) =>
      field === name && part !== undefined ? [{ name: JSON.stringify(part), slot: at }] : [],
    );
    const [part] = parts;
    return {
      lead: new ByteToken(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
      slot: slot >= 0 ? slot : this.columns.length + (name === 'id' ? 1 : 0),
      parts: parts.map(({ name, slot }) => ({ lead: new ByteToken(`${name}:`), slot })),
      link: part && new ByteToken(`{${part.name}:`),
    };
  }
}

/** Steps over the name of a member and returns the column that shows it; `NONE` where it cannot. */
function slotOf(json: JsonBytes, parts: readonly Part[], other: number): number {
  for (const { lead, slot } of parts) if (json.token(lead)) return slot;
  json.plain = true;
  const isName = json.bytes[json.at] === Code.quote && json.string() && json.plain;
  return isName && json.bytes[json.at++] === Code.colon ? other : NONE;
}

/** The JSON value in a part of a text. Throws a SyntaxError. */
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
