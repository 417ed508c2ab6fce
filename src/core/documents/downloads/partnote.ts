import { constants } from 'node:fs';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { isThisBoot, thisBoot } from '../../../filesystem/boot.ts';
import { replacePrivate } from '../../../filesystem/private.ts';
import { openOwnFile } from '../../output/ownfile.ts';

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
  /** Since the machine was started again, which may have been a power cut, any byte of the part may be another one. */
  readonly boot: string;
  readonly validator: Validator;
}

/** Maximum bytes of a note; longer ones are not ours. */
const MAX_NOTE_BYTES = 65_536;

/**
 * The note that we left at a path; undefined when there is none, it is damaged, it is about another file than `key`, or the
 * part may have suffered from a power cut.
 */
export async function readNote(path: string, key: PartKey): Promise<PartNote | undefined> {
  const file = await openOwnFile(path, constants.O_RDONLY).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const note = size > MAX_NOTE_BYTES ? undefined : parsed(await file.readFile('utf8'));
    const names = ['server', 'organization', 'id', 'variant', 'guid'] as const;
    const isOurs = names.every((name) => note?.[name] === key[name]);
    return isOurs && note !== undefined && isThisBoot(note.boot) ? note : undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Writes a note in place of whatever is there. Rejects as the file system does. */
export async function writeNote(path: string, key: PartKey, validator: Validator): Promise<void> {
  const file = await replacePrivate(path);
  try {
    const note: PartNote = { version: 1, boot: thisBoot(), ...key, validator };
    await file.writeFile(`${JSON.stringify(note)}\n`);
  } finally {
    await file.close();
  }
}

function parsed(text: string): PartNote | undefined {
  const value: unknown = JSON.parse(text);
  if (!isPlainObject(value) || value.version !== 1 || !isPlainObject(value.validator)) return undefined;
  if (typeof value.boot !== 'string') return undefined;
  const { total, etag, lastModified } = value.validator;
  const isText = (part: unknown) => part === null || typeof part === 'string';
  if (!Number.isSafeInteger(total) || !isText(etag) || !isText(lastModified)) return undefined;
  return value as unknown as PartNote;
}
