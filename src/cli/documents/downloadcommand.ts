import { cwd } from 'node:process';
import { type DownloadTarget, downloadAll } from '../../core/documents/downloads/downloadall.ts';
import {
  type DownloadedFile,
  DownloadTally,
  downloadedFields,
} from '../../core/documents/downloads/downloadoutcome.ts';
import { downloadInto } from '../../core/documents/downloads/downloadstream.ts';
import { type Downloading, getDocument, type Variant } from '../../core/documents/links/documentlink.ts';
import { Failure, usageFailure } from '../../core/failure.ts';
import type { Row } from '../../core/pages/page.ts';
import { DOWNLOADS, MAX_CONCURRENCY } from '../flags/documents.ts';
import { namedFormat } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag, wholeNumber } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { byteCollector } from '../process/memory.ts';
import { writeRows } from '../rows/output.ts';
import { planRows, type RowPlan } from '../rows/plan.ts';
import { planRecord, writeRecord } from '../rows/record.ts';
import { ByteProgress } from '../terminal/progress.ts';
import { checkPlace, countOf, type DownloadChoice, readChoice, wantedOf } from './downloadchoice.ts';
import { linkFetching } from './linkfetching.ts';

/** Downloads the files of documents, and shows where they are. */
export abstract class DownloadCommand extends MolarCommand {
  override async run(): Promise<void> {
    const input = await this.input();
    const { flags } = input;
    const { isTTY } = this.context.streams.stdout;
    // `--out` is the file itself here, not the report about it.
    const { out, ...report } = flags;
    const rows = planRows(report, downloadedFields, ['id', 'file', 'bytes', 'status'], isTTY);
    checkVariant(flags);
    wholeNumber(flags, 'concurrency', 1, MAX_CONCURRENCY);
    const choice = await readChoice(input, this.context);
    checkPlace(flags, choice);
    if (out === '-') return this.stream(choice, flags);
    if (choice.isOne) return this.downloadOne(choice, flags, report);
    return this.downloadMany(choice, flags, report, { ...rows, isDefaultLimit: false, limit: undefined });
  }

  private async downloadOne(choice: DownloadChoice, flags: FlagValues, report: FlagValues): Promise<void> {
    const { context } = this;
    await writeRecord(planRecord(report, downloadedFields, context), downloadedFields, report, context, async () => {
      const tally = new DownloadTally();
      for await (const file of this.files(choice, flags, tally)) return { ...file };
      throw tally.failure() ?? new Error('A document is neither downloaded nor refused.');
    });
  }

  private async downloadMany(choice: DownloadChoice, flags: FlagValues, report: FlagValues, plan: RowPlan) {
    const { context } = this;
    const tally = new DownloadTally();
    let failed: Failure | undefined;
    const files = this.files(choice, flags, tally);
    const pages = async function* () {
      // A table waits for the end: on a terminal the progress line stands where it goes.
      const held: Row[] = [];
      let cut: Failure | undefined;
      try {
        for await (const file of files) {
          if (plan.toTerminal) held.push({ ...file });
          else yield { rows: [{ ...file }] };
        }
      } catch (cause) {
        context.signal.throwIfAborted();
        if (!(cause instanceof Failure)) throw cause;
        cut = cause;
      }
      failed = tally.failure(cut);
      if (failed !== undefined && tally.done === 0) throw failed;
      yield { rows: held };
    };
    // The bytes have their own progress; a second line would stand over it.
    const quiet = { ...report, quiet: true };
    const note = (text: string) => this.note(text);
    await writeRows({ context, flags: quiet, plan, many: 'documents', open: async () => pages(), note });
    if (failed !== undefined) throw failed;
    for (const text of notesOf(tally, variantOf(flags), context.streams.stderr.isTTY)) await this.note(text);
  }

  /** Downloads, and gives the files that are there; the tally has the rest. */
  private async *files(
    choice: DownloadChoice,
    flags: FlagValues,
    tally: DownloadTally,
  ): AsyncGenerator<DownloadedFile> {
    const { signal, streams } = this.context;
    const downloading = await this.downloading(flags);
    const quiet = isOn(flags, 'quiet');
    const isShown = !quiet && streams.startProgress !== undefined;
    const files = isShown ? await countOf(choice, downloading.client, signal) : undefined;
    const progress = new ByteProgress(this.context, { doing: 'Downloaded', files, quiet });
    const wanted = wantedOf(choice, downloading.client, signal);
    const concurrency = wholeNumber(flags, 'concurrency', 1, MAX_CONCURRENCY) ?? DOWNLOADS;
    const target = this.target(flags, choice);
    try {
      const keepMemory = byteCollector();
      const onBytes = (bytes: number) => {
        progress.onBytes(bytes);
        keepMemory(bytes);
      };
      const told = { ...downloading, onBytes };
      for await (const result of downloadAll(wanted, target, told, concurrency)) {
        tally.note(result);
        progress.onDone();
        if ('file' in result) yield result.file;
      }
    } finally {
      progress.stop();
    }
  }

  private target(flags: FlagValues, { isOne }: DownloadChoice): DownloadTarget {
    const [out, dir] = [textFlag(flags, 'out'), textFlag(flags, 'dir')];
    return {
      folder: cwd(),
      overwrite: isOn(flags, 'overwrite'),
      ...(out !== undefined && { out }),
      ...(dir !== undefined && { dir }),
      // One document into the current folder leaves nothing there but its file.
      ...((dir !== undefined || !isOne) && { journal: lockOwner(this.context.clock) }),
    };
  }

  private async stream({ ids = [] }: DownloadChoice, flags: FlagValues): Promise<void> {
    if (namedFormat(flags) !== undefined)
      throw usageFailure('--out - prints the file itself, which has no other format.', { source: '--out' });
    if (this.context.streams.stdout.isTTY) {
      const message = '--out - prints the bytes of the file: send them to a file or a program.';
      throw usageFailure(message, { source: '--out' });
    }
    const downloading = { ...(await this.downloading(flags)), onBytes: byteCollector() };
    await downloadInto(this.context.streams.stdout.write, await getDocument(ids[0] ?? 0, downloading), downloading);
  }

  private async downloading(flags: FlagValues): Promise<Downloading> {
    const client = await this.connect(flags);
    const fetching = await linkFetching(this.connections(flags), this.context);
    return { client, fetching, variant: variantOf(flags) };
  }
}

function variantOf(flags: FlagValues): Variant {
  return isOn(flags, 'thumbnail') ? 'thumbnail' : ((textFlag(flags, 'variant') ?? 'original') as Variant);
}

function checkVariant(flags: FlagValues): void {
  const variant = textFlag(flags, 'variant');
  if (!isOn(flags, 'thumbnail') || variant === undefined || variant === 'thumbnail') return;
  const message = `--thumbnail and --variant ${variant} contradict each other; give one.`;
  throw usageFailure(message, { source: '--thumbnail' });
}

/** What people are told beside the list: always what is missing from it, the rest where somebody looks. */
function notesOf({ absent, done, skipped }: DownloadTally, variant: Variant, isTTY: boolean): string[] {
  const without = absent === 1 ? `1 document has no ${variant}.` : `${absent} documents have no ${variant}.`;
  const there = `${done - skipped} downloaded, ${skipped} there already.`;
  return [...(absent > 0 ? [without] : []), ...(isTTY && done > 0 ? [there] : [])];
}
