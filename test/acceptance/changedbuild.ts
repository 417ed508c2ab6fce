import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';

const SOURCES = resolve(import.meta.dirname, '../..');

/** What is added to the catalog, and the line after which it stands: a filter key with its index, and a field. */
const LINES = [
  [
    "  preferredName: key(TEXT, textValue, 'Preferred name'),\n",
    "  middleInitial: key(EQUALS, textValue, 'Middle initial', { flags: { 'middle-initial': '==' } }),\n",
  ],
  [
    "  middleInitial: optional(text({ max: 10 }), 'Middle initial'),\n",
    "  pronouns: optional(text({ max: 25 }), 'Pronouns'),\n",
  ],
] as const;

/** Makes a checkout in a folder that is not there yet, whose catalog has a filter key and a field of patients more, and builds it. */
export async function buildChanged(root: string): Promise<void> {
  await mkdir(root);
  for (const name of ['src', 'bin', 'docs', 'package.json'])
    await cp(join(SOURCES, name), join(root, name), { recursive: true });
  await symlink(join(SOURCES, 'node_modules'), join(root, 'node_modules'));
  const file = join(root, 'src/catalog/resources/patients.ts');
  let text = await readFile(file, 'utf8');
  for (const [before, line] of LINES) {
    expect(text).toContain(before);
    text = text.replace(before, before + line);
  }
  await writeFile(file, text);
  const { bundle } = await import(join(root, 'bin/bundle.mjs'));
  const { manifest } = await import(join(root, 'bin/manifest.mjs'));
  await bundle(root, join(root, 'dist'));
  await writeFile(join(root, 'oclif.manifest.json'), await manifest(root));
}
