import { appendFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { syncFile } from '../../../filesystem/durable.ts';
import { replacePrivate } from '../../../filesystem/private.ts';
import { sharedRun } from '../../../filesystem/sharedrun.ts';
import { fileFailure, usageFailure } from '../../failure.ts';
import { discard, guarded, publish } from '../../output/atomicfile.ts';
import { readOwnFile, replaceable } from '../../output/ownfile.ts';

/** State of one upload; `sending`: a POST went out, or is about to; `refused`: the server did not accept it. */
export type JournalEntry =
  | { readonly state: 'sending' }
  | { readonly state: 'stored'; readonly id: string }
  | { readonly state: 'refused' };

/** Version 1 also had, of an upload that is being sent, the id that its document would be above. */
const HEADER = { journal: 'molar documents upload', version: 2 };
const READABLE: readonly unknown[] = [1, HEADER.version];

/** Appends a line; where it has to be `durable`, it is on the disk when this resolves. */
type AppendLine = (line: string, durable: boolean) => Promise<void>;

/** Remembers over runs and crashes what was sent, by digests: no names, no ids of patients. */
export class UploadJournal {
  /** Whether an earlier run wrote it: then what it does not know of was never sent. */
  readonly isContinued: boolean;
  private readonly entries: Map<string, JournalEntry>;

  constructor(
    entries: ReadonlyMap<string, JournalEntry> | undefined,
    private readonly append: AppendLine,
  ) {
    this.isContinued = entries !== undefined;
    this.entries = new Map(entries);
  }

  entryOf(key: string): JournalEntry | undefined {
    return this.entries.get(key);
  }

  /** Records a state; that of a POST about to go out is on the disk when this resolves. */
  async note(key: string, entry: JournalEntry): Promise<void> {
    this.entries.set(key, entry);
    // Losing the end of an upload costs a look-up on the server; losing its beginning could cost a second document.
    await this.append(lineOf(key, entry), entry.state === 'sending');
  }
}

/** A journal in a file, and how to close it. */
export interface OpenJournal {
  readonly journal: UploadJournal;
  readonly close: () => Promise<void>;
}

/**
 * Opens the journal at a path or begins one (mode 0600). Old lines are folded into one an upload first, completely or
 * not at all. Throws a Failure: exit code 2 when it is another file, 9 when it cannot be read or written.
 */
export async function openJournal(path: string): Promise<OpenJournal> {
  const entries = await readJournal(path);
  const lines = [...(entries ?? [])].map(([key, entry]) => lineOf(key, entry));
  const file = await guarded(`write ${path}`, () => begin(path, [`${JSON.stringify(HEADER)}\n`, ...lines].join('')));
  return { journal: new UploadJournal(entries, lineAppender(file, path)), close: () => file.close() };
}

/** Replaces the journal; the file that was written stays open, so that nothing else of its name is appended to. */
async function begin(path: string, text: string): Promise<FileHandle> {
  const target = await replaceable(path);
  const part = `${target}.part`;
  const file = await replacePrivate(part);
  try {
    await file.appendFile(text);
    await publish(file, part, target);
    return file;
  } catch (cause) {
    await discard(file, part);
    throw cause;
  }
}

/** Appends lines in their order; those added while others are written go together, with one sync for all. */
function lineAppender(file: FileHandle, path: string): AppendLine {
  let buffered = '';
  let isDurable = false;
  const flush = sharedRun(async () => {
    const [text, durable] = [buffered, isDurable];
    [buffered, isDurable] = ['', false];
    try {
      // A few lines into the system's cache: handing that to the thread pool would take longer.
      appendFileSync(file.fd, text);
      if (durable) await syncFile(file, 'data');
    } catch (cause) {
      throw fileFailure(`write ${path}`, cause);
    }
  });
  return (line, durable) => {
    buffered += line;
    isDurable ||= durable;
    return flush();
  };
}

/** The last entry of each upload, undefined where there is no journal. A line that a crash cut short does not count. */
async function readJournal(path: string): Promise<Map<string, JournalEntry> | undefined> {
  const text = await guarded(`read ${path}`, async () => readOwnFile(await replaceable(path)));
  if (text === undefined) return undefined;
  if (text === null) throw fileFailure(`continue ${path}`, new Error('it is the file of another user'));
  const [first = '', ...lines] = text.split('\n');
  const header = parse(first);
  if (header?.journal !== HEADER.journal || !READABLE.includes(header.version)) {
    throw usageFailure(`${path} is not a journal of uploads; it would be overwritten.`, {
      source: path,
      hint: 'Name another results file with --results; the journal is beside it.',
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
