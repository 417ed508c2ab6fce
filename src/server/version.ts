import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of this molar, such as `0.1.0`, from the package.json above this file. */
export function molarVersion(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const found = versionIn(join(folder, 'package.json'));
    if (found !== undefined) return found;
    if (folder === dirname(folder)) throw new Error('The package.json of molar is missing.');
  }
}

function versionIn(file: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version;
  } catch {
    return undefined;
  }
}

/** Whether a version is above another one, by its numbers: `0.10.0` is above `0.9.1`. */
export function isAbove(version: string, other: string): boolean {
  const [numbers, others] = [version, other].map((text) => text.split(/[.+-]/).map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (numbers?.[at] || 0) - (others?.[at] || 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}
