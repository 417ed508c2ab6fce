import { usageFailure } from '../failure.ts';
import type { Sink } from '../output/sink.ts';
import {
  differences,
  type ExportIdentity,
  type Journal,
  journalPath,
  readJournal,
  removeJournal,
  writeJournal,
} from './journal.ts';
import { KeptPart, type PartMark, partPath } from './partialfile.ts';

/** The file of an export while it is written: its part, and the journal of it. */
export class ExportFile {
  /** What an earlier run left, when this one goes on with it. */
  readonly earlier: Journal | undefined;
  /** Why it starts over although another run had begun, where that is so. */
  readonly restart: string | undefined;
  private readonly part: KeptPart;
  /** The part up to the last whole page: what a later run can go on behind. */
  private settled: PartMark;

  private constructor(part: KeptPart, earlier: Journal | undefined, restart: string | undefined) {
    this.part = part;
    this.earlier = earlier;
    this.restart = restart;
    this.settled = part.mark();
  }

  /** Starts over: whatever an earlier run left is gone. */
  static async begin(target: string, restart?: string): Promise<ExportFile> {
    await removeJournal(partPath(target));
    return new ExportFile(await KeptPart.create(target), undefined, restart);
  }

  /**
   * Goes on with what an earlier run of the same export left, or begins where there is nothing, or nothing that can be
   * trusted: a job that always resumes must not be stuck until a person comes. `now`: the filter to be sent, and the
   * columns. Throws a Failure with exit code 2 that names every difference when it was another export.
   */
  static async resume(
    target: string,
    identity: ExportIdentity,
    now: Pick<Journal, 'sentFilter' | 'columns'>,
  ): Promise<ExportFile> {
    const journal = await checkResume(target, identity);
    if (journal === undefined) return ExportFile.begin(target);
    if (journal === null) return ExportFile.begin(target, 'its journal cannot be read');
    if (journal.sentFilter !== now.sentFilter) return ExportFile.begin(target, 'its bookmark has changed since');
    if (journal.columns !== now.columns) return ExportFile.begin(target, 'its columns have changed with molar');
    const part = await KeptPart.reopen(target, journal);
    if (part !== undefined) return new ExportFile(part, journal, undefined);
    return ExportFile.begin(target, journal.bytes === 0 ? undefined : 'its part is not as it was left');
  }

  get hasBegun(): boolean {
    return this.part.mark().bytes > 0;
  }

  mark(): PartMark {
    return this.part.mark();
  }

  /** Where formatted text goes; it ends with this file, not by itself. */
  sink(wrap: (inner: Sink) => Sink): Sink {
    const nothing = () => Promise.resolve();
    return wrap({ write: (data) => this.part.write(data), commit: nothing, abort: nothing });
  }

  /** A page is written: what stands in the part now, counts. */
  settle(): void {
    this.settled = this.part.mark();
  }

  /** Writes down how far it has come, after the part itself is safe on the disk. */
  async checkpoint(journal: Omit<Journal, keyof PartMark>): Promise<void> {
    await this.part.flush();
    await writeJournal(this.part.path, { ...journal, ...this.settled });
  }

  async publish(): Promise<void> {
    await this.part.publish();
    await removeJournal(this.part.path);
  }

  /** Ends without the file: part and journal stay for `--resume`, or are removed. Never throws. */
  async leave(journal: Omit<Journal, keyof PartMark> | undefined): Promise<void> {
    if (journal === undefined) {
      await this.part.remove();
      await removeJournal(this.part.path).catch(() => undefined);
      return;
    }
    // On a full disk the journal of the last checkpoint stays.
    await this.checkpoint(journal).catch(() => undefined);
    await this.part.keep();
  }
}

/**
 * The journal that an earlier run left for a target of `targetOf`: undefined for none, null for one that makes no sense.
 * Throws a Failure with exit code 2 that names every difference when it was another export.
 */
export async function checkResume(target: string, identity: ExportIdentity): Promise<Journal | null | undefined> {
  const journal = await readJournal(partPath(target));
  const different = journal ? differences(journal, identity) : [];
  if (different.length > 0) throw refused(target, different);
  return journal;
}

function refused(target: string, different: readonly string[]) {
  const message = `${journalPath(partPath(target))} is of another export: ${different.join('; ')}.`;
  return usageFailure(message, {
    source: '--resume',
    hint: 'Run it as it was run then, or without --resume to start over.',
  });
}
