import { constants } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { createPart } from '../../output/atomicfile.ts';
import { ignoreMissing, openOwnFile } from '../../output/ownfile.ts';

/** What tells one content of a file from another, so that a download can be resumed. */
export interface Validator {
  /** Size of the complete file in bytes. */
  readonly total: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Which file of which document a part belongs to; `guid` is the server's own storage identifier. */
export interface PartKey {
  readonly server: string;
  readonly organization: string;
  readonly id: number;
  readonly variant: string;
  readonly guid: string | null;
}

/** `FILE.part.json`: what is needed to resume `FILE.part`. */
export interface PartNote extends PartKey {
  readonly version: 1;
  readonly validator: Validator;
}

/** Maximum bytes of a note; longer ones are not ours. */
const MAX_NOTE_BYTES = 65_536;

/** The note that we left at a path; undefined when there is none, it is damaged, or it is about another file than `key`. */
export async function readNote(path: string, key: PartKey): Promise<PartNote | undefined> {
  const file = await openOwnFile(path, constants.O_RDONLY).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const note = size > MAX_NOTE_BYTES ? undefined : parsed(await file.readFile('utf8'));
    const names = ['server', 'organization', 'id', 'variant', 'guid'] as const;
    return names.every((name) => note?.[name] === key[name]) ? note : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Writes a note in place of whatever is there. Rejects as the file system does. */
export async function writeNote(path: string, key: PartKey, validator: Validator): Promise<void> {
  const file = await createPart(path);
  try {
    const note: PartNote = { version: 1, ...key, validator };
    await file.writeFile(`${JSON.stringify(note)}\n`);
  } finally {
    await file.close();
  }
}

/** Removes a file, or a link itself, if it exists. */
export async function removeIfPresent(path: string): Promise<void> {
  await unlink(path).catch(ignoreMissing);
}

function parsed(text: string): PartNote | undefined {
  const value: unknown = JSON.parse(text);
  if (!isPlainObject(value) || value.version !== 1 || !isPlainObject(value.validator)) return undefined;
  const { total, etag, lastModified } = value.validator;
  const isText = (part: unknown) => part === null || typeof part === 'string';
  if (!Number.isSafeInteger(total) || !isText(etag) || !isText(lastModified)) return undefined;
  return value as unknown as PartNote;
}
