import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { removeFile, syncFile, syncFolder } from '../../../filesystem/durable.ts';
import { createPrivate } from '../../../filesystem/private.ts';
import { codeOf, fileFailure } from '../../failure.ts';
import { holdLock, type LockOwner } from '../../lockfile.ts';
import { openOwnFile } from '../../output/ownfile.ts';
import { isFileName } from './filenames.ts';
import type { LabelledPath } from './localfile.ts';

/** Name of the journal, which no document's file can have. */
export const JOURNAL = '.molar-downloads.ndjson';

/** A file of the folder: which document it is of, and what its content was when it was downloaded. */
export interface JournalEntry {
  readonly server: string;
  readonly organization: string;
  readonly id: number;
  readonly variant: string;
  /** Stored name of the document. */
  readonly name: string;
  /** Name of the file in the folder. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Which of the entries a run is about. */
export type JournalScope = Pick<JournalEntry, 'server' | 'organization' | 'variant'>;

const { O_RDWR, O_APPEND } = constants;

/**
 * What was downloaded into a folder, one JSON object a line, so that another run skips what is there and gives every
 * document the name it had. One run at a time holds it; failures have exit code 9.
 */
export interface DownloadJournal {
  /** Names that are taken, whichever server or variant they are of. */
  readonly names: readonly string[];
  find(id: number): JournalEntry | undefined;
  add(entry: Omit<JournalEntry, keyof JournalScope>): Promise<void>;
  /** Makes the journal last and releases the folder; an empty journal is removed. */
  close(): Promise<void>;
}

/** Opens the journal of a folder, or begins one, for the documents of a server, organization and variant. */
export async function openDownloadJournal(
  folder: LabelledPath,
  scope: JournalScope,
  owner: LockOwner,
): Promise<DownloadJournal> {
  const path = join(folder.path, JOURNAL);
  const label = join(folder.label, JOURNAL);
  const lock = join(folder.path, '.molar-downloads.lock');
  const release = await holdLock(lock, folder.label || 'The current folder', owner);
  try {
    const file = await openJournal(path);
    const all = await readEntries(file);
    const names = all.map((entry) => entry.file);
    const ours = all.filter((entry) => SCOPE.every((key) => entry[key] === scope[key]));
    const entries = new Map(ours.map((entry) => [entry.id, entry]));
    return {
      names,
      find: (id) => entries.get(id),
      async add(entry) {
        const scoped = { ...scope, ...entry };
        entries.set(entry.id, scoped);
        await file.appendFile(`${JSON.stringify(scoped)}\n`).catch((cause: unknown) => {
          throw fileFailure(`write ${label}`, cause);
        });
      },
      async close() {
        const facts = await file.stat().catch(() => undefined);
        // What a power cut takes of it while the run lasts is compared with the server once more.
        if (facts?.size !== 0)
          await syncFile(file, 'data')
            .then(() => syncFolder(folder.path))
            .catch(() => undefined);
        await file.close().catch(() => undefined);
        if (facts?.size === 0) await removeFile(path).catch(() => undefined);
        await release();
      },
    };
  } catch (cause) {
    await release();
    throw fileFailure(`open ${label}`, cause);
  }
}

/** A new journal, or the one that we left. Names of documents are not told to another user, who may have put one there. */
async function openJournal(path: string): Promise<FileHandle> {
  const made = await createPrivate(path, O_APPEND).catch((cause: unknown) => {
    if (codeOf(cause) === 'EEXIST') return undefined;
    throw cause;
  });
  const file = made ?? (await openOwnFile(path, O_RDWR | O_APPEND));
  if (!file) throw new Error('it is a link, or the file of another user');
  return file;
}

const SCOPE = ['server', 'organization', 'variant'] as const;

/** The entries of a journal; incomplete lines, and those whose file would not be in the folder, are ignored. */
async function readEntries(file: FileHandle): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  let isEnded = true;
  for await (const line of file.readLines({ start: 0, autoClose: false })) {
    const entry = parsed(line);
    isEnded = entry !== undefined;
    if (entry !== undefined) entries.push(entry);
  }
  // A run that was killed may have left half a line.
  if (!isEnded) await file.appendFile('\n');
  return entries;
}

function parsed(line: string): JournalEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPlainObject(value) && isEntry(value) ? (value as unknown as JournalEntry) : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: Readonly<Record<string, unknown>>): boolean {
  const texts = [value.server, value.organization, value.variant, value.name, value.file, value.sha256];
  const isTyped =
    texts.every((text) => typeof text === 'string') && [value.id, value.bytes].every(Number.isSafeInteger);
  return isTyped && isFileName(String(value.file));
}
