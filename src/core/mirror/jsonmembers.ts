import { JsonBytes } from '../jsonscan/jsonbytes.ts';
import { Code } from '../jsonscan/tokens.ts';
import { bodyText } from '../transport/envelope.ts';

/** A part of a text, in bytes. */
type Span = readonly [start: number, end: number];

/** A member of a JSON object. */
interface Member {
  readonly name: string;
  /** Its name and its value. */
  readonly span: Span;
  /** Where its value begins. */
  readonly value: number;
}

/**
 * The members of the object that begins at a place, in their order; undefined where it has blanks. Afterwards `json` is
 * behind the object.
 */
function membersOf(json: JsonBytes, at: number): Member[] | undefined {
  const { bytes } = json;
  const found: Member[] = [];
  if (bytes[at] !== Code.openObject) return undefined;
  json.at = at;
  do {
    const start = ++json.at;
    if (found.length === 0 && bytes[start] === Code.closeObject) break;
    if (bytes[start] !== Code.quote || !json.string() || bytes[json.at] !== Code.colon) return undefined;
    const name = nameOf(bodyText(bytes.subarray(start + 1, json.at - 1)));
    const value = ++json.at;
    if (!json.value()) return undefined;
    found.push({ name, span: [start, json.at], value });
  } while (bytes[json.at] === Code.comma);
  return bytes[json.at++] === Code.closeObject ? found : undefined;
}

/** A name as it is meant, by what stands between its quotes. */
function nameOf(written: string): string {
  return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
}

/** The text of each member of an object by its name, as written; undefined where it has blanks. */
export function memberTexts(object: string): Map<string, string> | undefined {
  const { bytes, members } = read(object);
  return members && new Map(members.map(({ name, span }) => [name, bodyText(bytes.subarray(...span))]));
}

/** The value of a member as written; undefined where there is none, or the object has blanks. */
export function memberText(object: string, name: string): string | undefined {
  const { bytes, members } = read(object);
  // Of members with the same name the last one counts.
  const found = members?.findLast((member) => member.name === name);
  return found && bodyText(bytes.subarray(found.value, found.span[1]));
}

function read(object: string): { readonly bytes: Buffer; readonly members: readonly Member[] | undefined } {
  const json = new JsonBytes();
  const bytes = Buffer.from(object);
  json.open(bytes);
  return { bytes, members: membersOf(json, 0) };
}

/** The object of these members. */
export function objectText(members: Iterable<string>): string {
  return `{${[...members].join(',')}}`;
}
