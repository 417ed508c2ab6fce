import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** A file of the checkout: path from its root with `/`, and its text. */
export interface TreeFile {
  readonly path: string;
  readonly text: string;
}

const NOT_OURS = new Set([
  ...['node_modules', 'dist', 'dist.new', 'coverage', '.git'],
  ...['oclif.manifest.json', 'sbom.json', 'THIRD-PARTY-LICENSES'],
]);
const BINARY = /\.(?:pdf|png|jpe?g|gif|tgz|ico|docx?|xlsx?|pptx?|msg|db)$/i;

/** Paths of every file below a folder of the checkout, without what is installed or built; sorted. */
export function pathsBelow(folder = '.'): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (NOT_OURS.has(entry.name)) continue;
    if (entry.isDirectory()) found.push(...pathsBelow(path));
    else if (entry.isFile()) found.push(relative('.', path).split(sep).join('/'));
  }
  return found.sort();
}

/** The text files below a folder whose names match. */
export function filesBelow(folder = '.', name = /./): TreeFile[] {
  return pathsBelow(folder)
    .filter((path) => name.test(path) && !BINARY.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}
