import { readFile } from 'node:fs/promises';
import { decodeText, NotText } from '../text/decode.ts';
import { type Failure, fileFailure, usageFailure } from './failure.ts';

type Decode = typeof decodeText;

/**
 * The text of bytes that a person gave, in any encoding that `decodeText` knows. `label` names them in messages. Throws
 * a Failure (exit 2) that says which byte is no text; `hint` is put before what would be right.
 */
export function textFrom(bytes: Uint8Array, label: string, hint?: string, decode: Decode = decodeText): string {
  try {
    return decode(bytes);
  } catch (cause) {
    throw cause instanceof NotText ? notText(cause, label, hint) : cause;
  }
}

/**
 * The text of a file that a person named, decoded as PEM where `decode` says so. Throws a Failure: exit 9 for one that
 * cannot be read (`doing` completes "Cannot …"), else as `textFrom`.
 */
export async function readTextFile(
  path: string,
  { doing = `read ${path}`, decode = decodeText }: { readonly doing?: string; readonly decode?: Decode } = {},
): Promise<string> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw fileFailure(doing, cause);
  });
  return textFrom(bytes, path, undefined, decode);
}

function notText({ message, next }: NotText, label: string, hint?: string): Failure {
  return usageFailure(`${label} cannot be read as text: ${message}.`, {
    source: label,
    hint: hint === undefined ? next : `${hint} ${next}`,
  });
}
