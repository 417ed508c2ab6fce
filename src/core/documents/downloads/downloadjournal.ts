import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { fileFailure } from '../../failure.ts';
import { holdLock, type LockOwner, type Release } from '../../lockfile.ts';
import { isFileName } from './filenames.ts';
import type { LocalPlace } from './partfile.ts';

/** Name of the journal, which no document's file can have. */
export const JOURNAL = '.molar-downloads.ndjson';

/** A file of the folder: which document it is of, and what its content was when it came. */
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
 * What was downloaded into a folder, one JSON object a line, so that another run leaves alone what is there and gives
 * every document the name it had. One run at a time holds it; failures have exit code 9.
 */
export class DownloadJournal {
  private readonly entries = new Map<number, JournalEntry>();
  private readonly files: string[] = [];
  private readonly place: LocalPlace;
  private readonly scope: JournalScope;
  private readonly file: FileHandle;
  private readonly release: Release;

  private constructor(place: LocalPlace, scope: JournalScope, file: FileHandle, release: Release) {
    this.place = place;
    this.scope = scope;
    this.file = file;
    this.release = release;
  }

  static async open(folder: LocalPlace, scope: JournalScope, owner: LockOwner): Promise<DownloadJournal> {
    const place = { path: join(folder.path, JOURNAL), label: join(folder.label, JOURNAL) };
    const release = await holdLock(
      join(folder.path, '.molar-downloads.lock'),
      folder.label || 'The current folder',
      owner,
    );
    try {
      const file = await open(place.path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
      const journal = new DownloadJournal(place, scope, file, release);
      await journal.read();
      return journal;
    } catch (cause) {
      await release();
      throw fileFailure(`open ${place.label}`, cause);
    }
  }

  /** Names that are taken, whosever they are. */
  get names(): readonly string[] {
    return this.files;
  }

  find(id: number): JournalEntry | undefined {
    return this.entries.get(id);
  }

  async add(entry: Omit<JournalEntry, keyof JournalScope>): Promise<void> {
    const whole: JournalEntry = { ...this.scope, ...entry };
    this.entries.set(whole.id, whole);
    await this.file.appendFile(`${JSON.stringify(whole)}\n`).catch((cause: unknown) => {
      throw fileFailure(`write ${this.place.label}`, cause);
    });
  }

  /** Lets go of the folder; a journal in which nothing stands is not left behind. */
  async close(): Promise<void> {
    const isEmpty = await this.file.stat().then(
      ({ size }) => size === 0,
      () => false,
    );
    if (isEmpty) await unlink(this.place.path).catch(() => undefined);
    await this.file.close().catch(() => undefined);
    await this.release();
  }

  /** Lines that are not whole, or whose file would not be in the folder, are passed over; of several the last counts. */
  private async read(): Promise<void> {
    let isEnded = true;
    for await (const line of this.file.readLines({ start: 0, autoClose: false })) {
      const entry = parsed(line);
      isEnded = entry !== undefined;
      if (entry === undefined) continue;
      this.files.push(entry.file);
      const { server, organization, variant } = this.scope;
      if (entry.server === server && entry.organization === organization && entry.variant === variant)
        this.entries.set(entry.id, entry);
    }
    // A run that was killed may have left half a line.
    if (!isEnded) await this.file.appendFile('\n');
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
  const numbers = [value.id, value.bytes];
  return (
    texts.every((text) => typeof text === 'string') &&
    numbers.every((number) => Number.isSafeInteger(number)) &&
    isFileName(String(value.file))
  );
}
