import { fstatSync, readdirSync, statSync } from 'node:fs';

/** The name of the file in the current folder that standard output goes to, where it is regular and empty. */
export function emptyOutputFile(): string | undefined {
  try {
    const output = fstatSync(1);
    if (!output.isFile() || output.size > 0) return undefined;
    const files = readdirSync('.', { withFileTypes: true }).filter((entry) => entry.isFile());
    return files.find(({ name }) => isSame(statSync(name), output))?.name;
  } catch {
    return undefined;
  }
}

function isSame(one: { readonly ino: number; readonly dev: number }, other: typeof one): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
