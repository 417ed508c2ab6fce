import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { codeOf } from '../../failure.ts';
import type { Validator } from './contentrange.ts';

/** Which file of which document a part belongs to; `guid` is the server's own storage identifier. */
export interface PartKey {
  readonly server: string;
  readonly organization: string;
  readonly id: number;
  readonly variant: string;
  readonly guid: string | null;
}

/** `FILE.part.json`: what is needed to go on with `FILE.part`. */
export interface PartNote extends PartKey {
  readonly version: 1;
  readonly validator: Validator;
}

/** Longer notes are not ours. */
const LONGEST = 65_536;

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;

/** The note at a path; undefined when there is none, it is damaged, or it is about another file than `key`. */
export async function readNote(path: string, key: PartKey): Promise<PartNote | undefined> {
  const file = await open(path, O_RDONLY | O_NOFOLLOW).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const note = size > LONGEST ? undefined : parsed(await file.readFile('utf8'));
    return note !== undefined && isAbout(note, key) ? note : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Writes a note in place of whatever stands there. Rejects as the file system does. */
export async function writeNote(path: string, key: PartKey, validator: Validator): Promise<void> {
  await removeIfThere(path);
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    const note: PartNote = { version: 1, ...key, validator };
    await file.writeFile(`${JSON.stringify(note)}\n`);
  } finally {
    await file.close();
  }
}

/** Removes a file, or a link itself; nothing there is fine. */
export async function removeIfThere(path: string): Promise<void> {
  await unlink(path).catch((cause: unknown) => {
    if (codeOf(cause) !== 'ENOENT') throw cause;
  });
}

function parsed(text: string): PartNote | undefined {
  const value: unknown = JSON.parse(text);
  if (!isPlainObject(value) || value.version !== 1 || !isPlainObject(value.validator)) return undefined;
  const { total, etag, lastModified } = value.validator;
  const isText = (part: unknown) => part === null || typeof part === 'string';
  if (!Number.isSafeInteger(total) || !isText(etag) || !isText(lastModified)) return undefined;
  return value as unknown as PartNote;
}

function isAbout(note: PartNote, key: PartKey): boolean {
  const names = ['server', 'organization', 'id', 'variant', 'guid'] as const;
  return names.every((name) => note[name] === key[name]);
}
