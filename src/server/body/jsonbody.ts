import { refusal } from '../../catalog/failures.ts';

/** Limit of a body that carries no file (D5). */
export const SMALL_BODY_BYTES = 1024 * 1024;

/** Parses a body: UTF-8 without a byte order mark, one JSON document. Throws a Refusal (`body.not_json`). */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refusal('body.not_json', 'body', 'The body is not one valid JSON document in UTF-8.');
  }
}
