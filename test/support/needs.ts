import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const TEST = resolve(import.meta.dirname, '..');
const IMPORTED = /^(?:import |export |})[^']*\bfrom '(\.[^']+\.ts)';$/gm;

/** What has another store where this variable says so. */
const STORE = /\bprocess\.env\.MOLAR_TEST_STORE\b/;
/** What has a store, a server or a database of PostgreSQL, or starts another program. */
const MORE = /\bMOLAR_TEST_STORE\b|\bTEST_POSTGRES\b|\/faithful\/|'node:child_process'/;

interface Source {
  readonly text: string;
  readonly imports: readonly string[];
}

const known = new Map<string, Source>();

function source(path: string): Source {
  const found = known.get(path);
  if (found !== undefined) return found;
  const text = readFileSync(path, 'utf8');
  const imports = [...text.matchAll(IMPORTED)].map(([, name = '']) => join(dirname(path), name));
  const made = { text, imports: imports.filter((each) => each.startsWith(TEST)) };
  known.set(path, made);
  return made;
}

/** Whether a file of tests, or what it imports from `test`, has what is looked for. `seen`: files that have it not. */
function has(path: string, wanted: RegExp, seen = new Set<string>()): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  const { text, imports } = source(path);
  return wanted.test(text) || imports.some((each) => has(each, wanted, seen));
}

/** Files of tests by what they need, as paths from the root. */
function files(are: (path: string) => boolean): string[] {
  return readdirSync(TEST, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && are(join(TEST, file)))
    .map((file) => join('test', file));
}

/**
 * Tests that have the same store whatever MOLAR_TEST_STORE says: in the group `postgres` they would only repeat what they
 * have shown in another.
 */
export const filesWithoutStore = (): string[] => files((path) => !has(path, STORE));

/** Tests that need more than the code itself, and are no unit tests. */
export const filesWithMore = (): string[] => files((path) => has(path, MORE));
