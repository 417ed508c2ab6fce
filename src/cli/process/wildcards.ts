import { existsSync, readdirSync } from 'node:fs';
import { sep } from 'node:path';
import { usageFailure } from '../../core/failure.ts';
import type { Shell } from '../../shells/shell.ts';

/**
 * The paths that typed ones stand for where the shell leaves `*` and `?` to the program, as those of Windows do: in the
 * order of their names, in any letter case, and without names that begin with a dot unless the pattern does. A file that
 * is called like a pattern is meant itself. Throws a Failure (exit 2) for a pattern that matches nothing.
 */
export function expandWildcards(paths: readonly string[], shell: Shell): readonly string[] {
  if (shell === 'sh') return paths;
  return paths.flatMap((path) => {
    if (!/[*?]/.test(path) || existsSync(path)) return [path];
    const found = matching(path);
    if (found.length > 0) return found;
    throw usageFailure(`No file matches ${path}.`, { hint: '* stands for any part of a name, ? for one character.' });
  });
}

/** The same of the argument `file` of a command, which may be one path: then a pattern has to match one file. */
export function filesOf(file: unknown, shell: Shell): unknown {
  if (Array.isArray(file)) return expandWildcards(file, shell);
  if (typeof file !== 'string') return file;
  const [found, ...more] = expandWildcards([file], shell);
  if (more.length === 0) return found;
  throw usageFailure(`${file} matches ${more.length + 1} files, and one is needed.`, { source: 'FILE' });
}

function matching(pattern: string): readonly string[] {
  const parts = pattern.split(sep === '\\' ? /([\\/])/ : /(\/)/);
  const paths = parts.reduce<readonly string[]>(
    (before, part) =>
      /[*?]/.test(part) ? before.flatMap((path) => entries(path, part)) : before.map((path) => path + part),
    [''],
  );
  return paths.filter((path) => existsSync(path));
}

function entries(folder: string, pattern: string): readonly string[] {
  // In cmd *.* is every name, with a dot or without.
  const signs = pattern === '*.*' ? '*' : pattern;
  const text = signs
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const isMatch = new RegExp(`^${text}$`, 'isu');
  const names = namesIn(folder).filter(
    (name) => isMatch.test(name) && (!name.startsWith('.') || signs.startsWith('.')),
  );
  return names.sort().map((name) => folder + name);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder === '' ? '.' : folder);
  } catch {
    return [];
  }
}
