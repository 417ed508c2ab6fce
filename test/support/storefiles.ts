import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const TEST = resolve(import.meta.dirname, '..');
/** What has another store where this variable says so. */
const ASKS = /\bprocess\.env\.MOLAR_TEST_STORE\b/;
const IMPORTED = /^(?:import |export |})[^']*\bfrom '(\.[^']+\.ts)';$/gm;

/**
 * Files of tests that have the same store whatever MOLAR_TEST_STORE says, since neither they nor what they import ask for
 * it: in the group `postgres` they would only repeat what they have shown in another. Paths from the root.
 */
export function filesWithoutStore(): string[] {
  const files = readdirSync(TEST, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  return files.filter((file) => !asks(join(TEST, file), new Set())).map((file) => join('test', file));
}

/** `seen`: files that were looked at, which do not ask. */
function asks(file: string, seen: Set<string>): boolean {
  if (seen.has(file) || !file.startsWith(TEST)) return false;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  return ASKS.test(text) || [...text.matchAll(IMPORTED)].some(([, path = '']) => asks(join(dirname(file), path), seen));
}
