import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { fileFailure } from '../../failure.ts';
import { holdLock, type LockOwner, type Release } from '../../lockfile.ts';
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

const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW = 0 } = constants;

/**
 * What was downloaded into a folder, one JSON object a line, so that another run skips what is there and gives every
 * document the name it had. One run at a time holds it; failures have exit code 9.
 */
export class DownloadJournal {
  private readonly entries = new Map<number, JournalEntry>();
  private readonly files: string[] = [];
  private readonly journal: LabelledPath;
  private readonly scope: JournalScope;
  private readonly handle: FileHandle;
  private readonly release: Release;

  private constructor(journal: LabelledPath, scope: JournalScope, handle: FileHandle, release: Release) {
    this.journal = journal;
    this.scope = scope;
    this.handle = handle;
    this.release = release;
  }

  static async open(folder: LabelledPath, scope: JournalScope, owner: LockOwner): Promise<DownloadJournal> {
    const path = join(folder.path, JOURNAL);
    const label = join(folder.label, JOURNAL);
    const lock = join(folder.path, '.molar-downloads.lock');
    const release = await holdLock(lock, folder.label || 'The current folder', owner);
    try {
      const handle = await open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
      const journal = new DownloadJournal({ path, label }, scope, handle, release);
      await journal.read();
      return journal;
    } catch (cause) {
      await release();
      throw fileFailure(`open ${label}`, cause);
    }
  }

  /** Names that are taken, whichever server or variant they are of. */
  get names(): readonly string[] {
    return this.files;
  }

  find(id: number): JournalEntry | undefined {
    return this.entries.get(id);
  }

  async add(entry: Omit<JournalEntry, keyof JournalScope>): Promise<void> {
    const scoped: JournalEntry = { ...this.scope, ...entry };
    this.entries.set(scoped.id, scoped);
    await this.handle.appendFile(`${JSON.stringify(scoped)}\n`).catch((cause: unknown) => {
      throw fileFailure(`write ${this.journal.label}`, cause);
    });
  }

  /** Releases the folder; an empty journal is removed. */
  async close(): Promise<void> {
    const facts = await this.handle.stat().catch(() => undefined);
    if (facts?.size === 0) await unlink(this.journal.path).catch(() => undefined);
    await this.handle.close().catch(() => undefined);
    await this.release();
  }

  /** Incomplete lines, and those whose file would not be in the folder, are ignored; of several the last counts. */
  private async read(): Promise<void> {
    const { server, organization, variant } = this.scope;
    let isEnded = true;
    for await (const line of this.handle.readLines({ start: 0, autoClose: false })) {
      const entry = parsed(line);
      isEnded = entry !== undefined;
      if (entry === undefined) continue;
      this.files.push(entry.file);
      if (entry.server === server && entry.organization === organization && entry.variant === variant)
        this.entries.set(entry.id, entry);
    }
    // A run that was killed may have left half a line.
    if (!isEnded) await this.handle.appendFile('\n');
  }
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
