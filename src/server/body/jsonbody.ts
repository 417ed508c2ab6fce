import { refusal } from '../../catalog/failures.ts';

/** Limit of a body that carries no file (D5). */
export const SMALL_BODY_BYTES = 1024 * 1024;

/** The media type of every body but a form: JSON, which is UTF-8 and nothing else (D5). */
export const JSON_MEDIA_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?\s*$/i;

/** Parses a body: one JSON document in UTF-8, a byte order mark before it ignored. Throws a Refusal (`body.not_json`). */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refusal('body.not_json', 'body', 'The body is not one valid JSON document in UTF-8.');
  }
}
