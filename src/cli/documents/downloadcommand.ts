import { cwd } from 'node:process';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { documents, type Variant } from '../../catalog/resources/documents.ts';
import { type DocumentRef, type DownloadTarget, downloadAll } from '../../core/documents/downloads/downloadall.ts';
import { downloadInto } from '../../core/documents/downloads/downloadfile.ts';
import {
  type DownloadedFile,
  DownloadTally,
  downloadedFields,
} from '../../core/documents/downloads/downloadoutcome.ts';
import { type Downloading, getDocument } from '../../core/documents/links/documentlink.ts';
import { Failure, usageFailure } from '../../core/failure.ts';
import { totalOf } from '../../core/pages/countall.ts';
import type { Row } from '../../core/pages/page.ts';
import { walkPages } from '../../core/pages/walk.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import { DOWNLOADS, MAX_CONCURRENCY } from '../flags/documents.ts';
import { readFilter } from '../flags/filters.ts';
import { readIds } from '../flags/idlist.ts';
import { namedFormat } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag, wholeNumber } from '../flags/values.ts';
import { type CommandInput, MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { byteCollector } from '../process/memory.ts';
import { writeRows } from '../rows/output.ts';
import { planRows, type RowPlan } from '../rows/plan.ts';
import { planRecord, writeRecord } from '../rows/record.ts';
import { ByteProgress } from '../terminal/progress.ts';
import { linkFetching } from './linkfetching.ts';

/** Rows of one page: so few that their links are still valid when they are used (D38). */
const PAGE = 100;

/** The fields of a listed document that its download needs. */
const FIELDS = ['id', 'name', 'guidName', 'storage'];

const CHOICES = 'ids, a filter such as --patient ID, or --all for every document';

/** The documents that a command line chooses: by their ids, or by a filter. */
type DownloadChoice =
  | { readonly ids: readonly number[]; readonly isOne: boolean }
  | { readonly ids: undefined; readonly isOne: false; readonly filter: string | undefined };

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
    const choice = await this.choice(input);
    checkTarget(flags, choice);
    if (out === '-') return this.stream(choice, flags);
    if (choice.isOne) return this.downloadOne(choice, flags, report);
    return this.downloadMany(choice, flags, report, { ...rows, isDefaultLimit: false, limit: undefined });
  }

  /** Reads ids, filter and `--all`, of which there must be one. Throws a Refusal or a Failure (exit 2). */
  private async choice(input: CommandInput): Promise<DownloadChoice> {
    const { flags } = input;
    const list = await readIds(input, this.context);
    const filter = readFilter(flags, operationOf(documents, 'list').filters ?? {});
    const given = [list.ids.length > 0, filter !== undefined, isOn(flags, 'all')].filter(Boolean).length;
    if (given === 0) throw usageFailure(`Nothing is chosen: give ${CHOICES}.`, { source: 'ID' });
    if (given > 1)
      throw usageFailure(`Give only one of: ${CHOICES}.`, { source: list.ids.length > 0 ? 'ID' : '--all' });
    return list.ids.length > 0 ? list : { ids: undefined, isOne: false, filter };
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
      // A table waits for the end: on a terminal the progress line is where it goes.
      const buffered: Row[] = [];
      let cut: Failure | undefined;
      try {
        for await (const file of files) {
          if (plan.toTerminal) buffered.push({ ...file });
          else yield { rows: [{ ...file }] };
        }
      } catch (cause) {
        context.signal.throwIfAborted();
        if (!(cause instanceof Failure)) throw cause;
        cut = cause;
      }
      failed = tally.failure(cut);
      if (failed !== undefined && tally.done === 0) throw failed;
      yield { rows: buffered };
    };
    // The bytes have their own progress line, which a second one would overwrite.
    const quiet = { ...report, quiet: true };
    const note = (text: string) => this.note(text);
    await writeRows({ context, flags: quiet, plan, many: 'documents', open: async () => pages(), note });
    if (failed !== undefined) throw failed;
    for (const text of notesOf(tally, variantOf(flags), context.streams.stderr.isTTY)) await this.note(text);
  }

  /** Downloads, and yields the files that are there; the tally has the rest. */
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
    const concurrency = wholeNumber(flags, 'concurrency', 1, MAX_CONCURRENCY) ?? DOWNLOADS;
    const target = this.target(flags, choice);
    try {
      const collect = byteCollector();
      const onBytes = (bytes: number) => {
        progress.onBytes(bytes);
        collect(bytes);
      };
      const chosen = chosenOf(choice, downloading.client, signal);
      for await (const result of downloadAll(chosen, target, { ...downloading, onBytes }, concurrency)) {
        tally.note(result);
        progress.onDone();
        if ('file' in result) yield result.file;
      }
    } finally {
      await progress.stop();
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

/** Notes beside the list: always on what is missing from it, the rest on a terminal. */
function notesOf({ absent, done, skipped }: DownloadTally, variant: Variant, isTTY: boolean): string[] {
  const without = absent === 1 ? `1 document has no ${variant}.` : `${absent} documents have no ${variant}.`;
  const there = `${done - skipped} downloaded, ${skipped} there already.`;
  return [...(absent > 0 ? [without] : []), ...(isTTY && done > 0 ? [there] : [])];
}

/** The documents of a choice; a filter's arrive page by page. */
async function* chosenOf(choice: DownloadChoice, client: ApiClient, signal: AbortSignal): AsyncGenerator<DocumentRef> {
  if (choice.ids !== undefined) return yield* choice.ids;
  const options = { filter: choice.filter, fields: FIELDS, pageSize: PAGE, signal };
  for await (const { rows } of walkPages(client, operationOf(documents, 'list'), options)) yield* rows;
}

/** The number of documents of a choice, undefined where the server does not report it: it is for the progress only. */
async function countOf(choice: DownloadChoice, client: ApiClient, signal: AbortSignal): Promise<number | undefined> {
  if (choice.ids !== undefined) return choice.ids.length;
  const path = pathOf(operationOf(documents, 'count'));
  const request = { method: 'GET', path, query: { filter: choice.filter }, signal } as const;
  return client.request(request).then(totalOf, () => undefined);
}

/** Refuses flags that do not go together or with the choice. Throws a Failure (exit 2). */
function checkTarget(flags: FlagValues, { isOne }: DownloadChoice): void {
  const { out, dir } = flags;
  if (out === '') throw usageFailure('--out must name a file.', { source: '--out' });
  if (dir === '') throw usageFailure('--dir must name a folder.', { source: '--dir' });
  if (out === undefined) return;
  if (dir !== undefined) throw usageFailure('Give --out or --dir, not both.', { source: '--dir' });
  if (!isOne) throw usageFailure('--out takes one document; use --dir for several.', { source: '--out' });
  if (out === '-' && isOn(flags, 'overwrite'))
    throw usageFailure('--overwrite has no effect on standard output.', { source: '--overwrite' });
}
