import { readFile } from 'node:fs/promises';
import { type Refusal, refusal } from '../../catalog/failures.ts';

/** Reads a file that a flag names. Throws a Refusal (exit 2). */
export function read(file: string, flag: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw unusable(flag, `${file} cannot be read (${error.code})`);
  });
}

/** The refusal of what a flag names. */
export function unusable(flag: string, why: string): Refusal {
  return refusal('field.format', flag, `${flag} cannot be used: ${why}.`);
}
