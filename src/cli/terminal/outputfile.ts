import { closeSync, type Dirent, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { isSameFile } from '../../filesystem/identity.ts';

/** A file that a shell made, and that is empty still. */
export interface EmptyFile {
  readonly name: string;
  /** `<>` made it, for standard input. */
  readonly isInput: boolean;
}

/**
 * The empty file in the current folder that standard output goes to, or that standard input was opened with; else the
 * newest whose name begins with `=`, as PowerShell leaves one: it writes the output itself.
 */
export function emptyRedirection(): EmptyFile | undefined {
  try {
    const files = readdirSync('.', { withFileTypes: true }).filter((entry) => entry.isFile());
    const output = fileOf(1, files);
    if (output !== undefined) return { name: output, isInput: false };
    const input = fileOf(0, files);
    if (input !== undefined) return { name: input, isInput: true };
    const left = files.filter(({ name }) => name.startsWith('=') && isBlank(name));
    const [newest] = left.map(({ name }) => name).sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
    return newest === undefined ? undefined : { name: newest, isInput: false };
  } catch {
    return undefined;
  }
}

/** The file that a descriptor is open on, where that is regular and empty. */
function fileOf(descriptor: 0 | 1, files: readonly Dirent[]): string | undefined {
  const open = fstatSync(descriptor);
  if (!open.isFile() || open.size > 0) return undefined;
  return files.find(
    ({ name }) =>
      statSync(name).size === 0 &&
      isSameFile(
        opened(name, (file) => fstatSync(file)),
        open,
      ),
  )?.name;
}

/** Whether a file has no bytes, or none but a mark of its encoding. */
function isBlank(name: string): boolean {
  const { size } = statSync(name);
  if (size === 0) return true;
  if (size > 3) return false;
  const bytes = Buffer.alloc(size);
  opened(name, (file) => readSync(file, bytes));
  return ['fffe', 'efbbbf'].includes(bytes.toString('hex'));
}

/** What is told of a file while it is open. */
function opened<T>(name: string, tell: (file: number) => T): T {
  const file = openSync(name, 'r');
  try {
    return tell(file);
  } finally {
    closeSync(file);
  }
}
