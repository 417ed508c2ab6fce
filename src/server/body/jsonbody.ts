import { refusal } from '../../catalog/failures.ts';

/** Maximum bytes of a body without a file (D5). */
export const SMALL_BODY_BYTES = 1024 * 1024;

/** The media type of every body but a form: JSON, which is UTF-8 and nothing else (D5). */
export const JSON_MEDIA_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?\s*$/i;

/** Maximum nesting of arrays and objects: far more than any body has, and too little to exhaust the stack of a reader. */
export const MAX_NESTING = 100;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a body: one JSON document in UTF-8, a byte order mark before it ignored. Throws a Refusal (`body.not_json`). */
export function parseJson(bytes: Buffer): unknown {
  if (isTooDeep(bytes)) {
    const description = `The body has more than ${MAX_NESTING} nested arrays or objects.`;
    throw refusal('body.not_json', 'body', description);
  }
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    throw refusal('body.not_json', 'body', 'The body is not one valid JSON document in UTF-8.');
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function isTooDeep(bytes: Buffer): boolean {
  let levels = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (quoted) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) {
      quoted = true;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++levels > MAX_NESTING) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      levels--;
    }
  }
  return false;
}
