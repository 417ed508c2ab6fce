import { readFile } from 'node:fs/promises';
import { type Refusal, refusal } from '../../catalog/failures.ts';
import { decodeText, type NotText } from '../../text/decode.ts';

/** Reads a text file that a flag names; `decode` may be that of PEM. Throws a Refusal (exit 2). */
export async function readInput(file: string, flag: string, decode = decodeText): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw unusable(flag, `${file} cannot be read (${error.code})`);
  });
  try {
    return decode(bytes);
  } catch (cause) {
    throw unusable(flag, `${file}: ${(cause as NotText).message}`);
  }
}

/** The refusal of what a flag names. */
export function unusable(flag: string, why: string): Refusal {
  return refusal('field.format', flag, `${flag} cannot be used: ${why}.`);
}
