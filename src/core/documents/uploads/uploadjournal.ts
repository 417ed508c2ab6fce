import { appendFileSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { codeOf, Failure, fileFailure, usageFailure } from '../../failure.ts';
import { openAtomicFile } from '../../output/atomicfile.ts';

/**
 * What is known of one upload. `sending`: a POST went out, or is about to. `stored`: as the document `id`. `refused`: the
 * server did not take it.
 */
export type JournalEntry =
  | { readonly state: 'sending' }
  | { readonly state: 'stored'; readonly id: string }
  | { readonly state: 'refused' };

/** Version 1 also had, of an upload that is being sent, the id that its document would be above. */
const HEADER = { journal: 'molar documents upload', version: 2 };
const READABLE: readonly unknown[] = [1, HEADER.version];

/**
 * Remembers over runs and crashes what was sent, by a digest of server, owner, name and content: no names, no ids of
 * patients. `write` keeps a line for good before it resolves where `durable` says so.
 */
export class UploadJournal {
  /** Whether an earlier run wrote it: then what it does not know of was never sent. */
  readonly isContinued: boolean;
  private readonly entries: Map<string, JournalEntry>;
  private readonly write: (line: string, durable: boolean) => Promise<void>;

  constructor(
    entries: ReadonlyMap<string, JournalEntry> | undefined,
    write: (line: string, durable: boolean) => Promise<void>,
  ) {
    this.isContinued = entries !== undefined;
    this.entries = new Map(entries);
    this.write = write;
  }

  entryOf(key: string): JournalEntry | undefined {
    return this.entries.get(key);
  }

  /** Notes that a POST is about to go out. */
  sending(key: string): Promise<void> {
    return this.note(key, { state: 'sending' });
  }

  stored(key: string, id: string): Promise<void> {
    return this.note(key, { state: 'stored', id });
  }

  refused(key: string): Promise<void> {
    return this.note(key, { state: 'refused' });
  }

  private async note(key: string, entry: JournalEntry): Promise<void> {
    this.entries.set(key, entry);
    // Losing the end of an upload costs a look on the server; losing its beginning could cost a second document.
    await this.write(lineOf(key, entry), entry.state === 'sending');
  }
}

/** A journal in a file, and how to let go of it. */
export interface OpenJournal {
  readonly journal: UploadJournal;
  readonly close: () => Promise<void>;
}

/**
 * Opens the journal at a path or begins one (mode 0600). Old lines are folded into one an upload first, whole or not at
 * all. Throws a Failure: exit code 2 when another file stands there, 9 when it cannot be read or written.
 */
export async function openJournal(path: string): Promise<OpenJournal> {
  const entries = await readJournal(path);
  const fresh = await openAtomicFile(path);
  try {
    const lines = [...(entries ?? [])].map(([key, entry]) => lineOf(key, entry));
    await fresh.write([`${JSON.stringify(HEADER)}\n`, ...lines].join(''));
    await fresh.commit();
  } catch (cause) {
    await fresh.abort();
    throw cause;
  }
  const file = await open(path, 'a', 0o600).catch((cause: unknown) => {
    throw fileFailure(`write ${path}`, cause);
  });
  const lines = new JournalLines(file, path);
  return {
    journal: new UploadJournal(entries, (line, durable) => lines.append(line, durable)),
    close: () => file.close(),
  };
}

/** Appends lines in their order; those that come while others are being written go together, with one sync for all. */
class JournalLines {
  private readonly file: FileHandle;
  private readonly path: string;
  private waiting = '';
  private durable = false;
  private writing: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  constructor(file: FileHandle, path: string) {
    this.file = file;
    this.path = path;
  }

  append(line: string, durable: boolean): Promise<void> {
    this.waiting += line;
    this.durable ||= durable;
    this.next ??= this.afterOthers();
    return this.next;
  }

  private async afterOthers(): Promise<void> {
    await this.writing.catch(() => undefined);
    this.writing = this.write();
    await this.writing;
  }

  private async write(): Promise<void> {
    const { waiting, durable } = this;
    [this.waiting, this.durable, this.next] = ['', false, undefined];
    try {
      // A few lines into the memory of the system: to hand that to another thread would take longer.
      appendFileSync(this.file.fd, waiting);
      if (durable) await this.file.datasync();
    } catch (cause) {
      throw fileFailure(`write ${this.path}`, cause);
    }
  }
}

/** The last entry of each upload, undefined where there is no journal. A line that a crash cut short does not count. */
async function readJournal(path: string): Promise<Map<string, JournalEntry> | undefined> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw cause instanceof Failure ? cause : fileFailure(`read ${path}`, cause);
  });
  if (text === undefined) return undefined;
  const [first, ...lines] = text.split('\n');
  const header = parse(first ?? '');
  if (header?.journal !== HEADER.journal || !READABLE.includes(header.version)) {
    throw usageFailure(`${path} is not a journal of uploads; it would be overwritten.`, {
      source: path,
      hint: 'Name another results file with --results; the journal stands beside it.',
    });
  }
  return new Map(lines.flatMap((line) => entryOf(parse(line))));
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function lineOf(key: string, entry: JournalEntry): string {
  return `${JSON.stringify({ key, ...entry })}\n`;
}

function entryOf(line: Readonly<Record<string, unknown>> | undefined): [string, JournalEntry][] {
  const { key, state, id } = line ?? {};
  if (typeof key !== 'string') return [];
  if (state === 'stored' && typeof id === 'string') return [[key, { state, id }]];
  return state === 'sending' || state === 'refused' ? [[key, { state }]] : [];
}
