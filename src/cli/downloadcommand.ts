import { cwd } from 'node:process';
import { asId } from '../catalog/fields/numbers.ts';
import {
  type DownloadedFile,
  downloadAll,
  downloadedFields,
  failureOfDownloads,
} from '../core/documents/downloadall.ts';
import { type Downloading, downloadInto, getDocument, type Variant } from '../core/documents/downloadfile.ts';
import { type Failure, usageFailure } from '../core/failure.ts';
import { ByteProgress } from './byteprogress.ts';
import { CONCURRENCY, MOST_CONCURRENCY } from './flags/documents.ts';
import { wholeNumber } from './flags/numbers.ts';
import { namedFormat } from './flags/output.ts';
import { type FlagValues, isOn, textFlag, textFlags } from './flagvalues.ts';
import { MolarCommand } from './molarcommand.ts';
import { planRecord, writeRecord } from './recordoutput.ts';
import { writeRows } from './rowoutput.ts';
import { planRows } from './rowplan.ts';
import { linkFetching, onePage } from './transfers.ts';

/** Downloads the files of documents, and shows where they are. */
export abstract class DownloadCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const ids = readIds(textFlags(args, 'id'));
    // `--out` is the file itself here, not the report about it.
    const { out: _, ...report } = flags;
    const isTTY = this.context.streams.stdout.isTTY;
    const rows = planRows(report, downloadedFields, Object.keys(downloadedFields).slice(0, 4), isTTY);
    const [id = ''] = ids;
    checkTarget(flags, ids, isTTY);
    if (textFlag(flags, 'out') === '-') return this.stream(id, flags);
    if (ids.length === 1) return this.downloadOne(ids, flags, report);
    let failed: Failure | undefined;
    const open = async () => {
      const { files, failure } = await this.download(ids, flags);
      failed = failure;
      if (failure !== undefined && files.length === 0) throw failure;
      return onePage(files.map((file) => ({ ...file })));
    };
    const plan = { ...rows, isDefaultLimit: false, limit: undefined };
    await writeRows({
      context: this.context,
      flags: report,
      plan,
      many: 'documents',
      open,
      note: (text) => this.note(text),
    });
    if (failed !== undefined) throw failed;
  }

  private async downloadOne(ids: readonly string[], flags: FlagValues, report: FlagValues): Promise<void> {
    const { context } = this;
    await writeRecord(planRecord(report, downloadedFields, context), downloadedFields, report, context, async () => {
      const { files, failure } = await this.download(ids, flags);
      const [file] = files;
      if (file === undefined) throw failure ?? new Error('A document is neither downloaded nor refused.');
      return { ...file };
    });
  }

  private async download(
    ids: readonly string[],
    flags: FlagValues,
  ): Promise<{ files: readonly DownloadedFile[]; failure: Failure | undefined }> {
    const progress = new ByteProgress(this.context, {
      doing: 'Downloaded',
      files: ids.length,
      quiet: isOn(flags, 'quiet'),
    });
    const [out, dir] = [textFlag(flags, 'out'), textFlag(flags, 'dir')];
    const target = {
      folder: cwd(),
      force: isOn(flags, 'force'),
      ...(out !== undefined && { out }),
      ...(dir !== undefined && { dir }),
    };
    const concurrency = wholeNumber(flags, 'concurrency', 1, MOST_CONCURRENCY) ?? CONCURRENCY;
    const downloading = { ...(await this.downloading(flags)), onBytes: progress.onBytes, onDone: progress.onDone };
    const results = await downloadAll(ids, target, downloading, concurrency).finally(() => progress.stop());
    const files = results.flatMap((result) => ('file' in result ? [result.file] : []));
    return { files, failure: failureOfDownloads(results) };
  }

  private async stream(id: string, flags: FlagValues): Promise<void> {
    const downloading = await this.downloading(flags);
    await downloadInto(this.context.streams.stdout.write, await getDocument(id, downloading), downloading);
  }

  private async downloading(flags: FlagValues): Promise<Downloading> {
    const client = await this.connect(flags);
    const fetching = await linkFetching(this.connections(flags), this.context);
    const variant = isOn(flags, 'thumbnail') ? 'thumbnail' : ((textFlag(flags, 'variant') ?? 'original') as Variant);
    return { client, fetching, variant };
  }
}

function readIds(given: readonly string[]): string[] {
  const ids = given.map((text) => {
    const id = asId(text);
    if (id === undefined) throw usageFailure('ID must be a positive integer.', { source: 'ID' });
    return String(id);
  });
  return [...new Set(ids)];
}

function checkTarget(flags: FlagValues, ids: readonly string[], isTTY: boolean): void {
  const [out, dir, variant] = [textFlag(flags, 'out'), textFlag(flags, 'dir'), textFlag(flags, 'variant')];
  const wrong = (source: string, message: string) => usageFailure(message, { source });
  wholeNumber(flags, 'concurrency', 1, MOST_CONCURRENCY);
  if (out === '' || dir === '')
    throw wrong(out === '' ? '--out' : '--dir', out === '' ? '--out must name a file.' : '--dir must name a folder.');
  if (out !== undefined && dir !== undefined) throw wrong('--dir', 'Give --out or --dir, not both.');
  if (out !== undefined && ids.length > 1) throw wrong('--out', '--out takes one document; use --dir for several.');
  if (isOn(flags, 'thumbnail') && variant !== undefined && variant !== 'thumbnail') {
    throw wrong('--thumbnail', `--thumbnail and --variant ${variant} contradict each other; give one.`);
  }
  if (out !== '-') return;
  if (namedFormat(flags) !== undefined)
    throw wrong('--out', '--out - prints the file itself, which has no other format.');
  if (isTTY) throw wrong('--out', '--out - prints the bytes of the file: send them to a file or a program.');
}
