import { cwd } from 'node:process';
import { operationOf, pathOf } from '../catalog/catalog.ts';
import { documents } from '../catalog/resources/documents.ts';
import { readSettings } from '../core/connection/settings.ts';
import type { PlannedUpload } from '../core/documents/plan.ts';
import { checkDefaults } from '../core/documents/uploadinput.ts';
import {
  failureOfChecks,
  type PreparedUploads,
  prepareUploads,
  runUploads,
  type UploadReport,
} from '../core/documents/uploadrun.ts';
import { type Failure, usageFailure } from '../core/failure.ts';
import { ByteProgress } from './byteprogress.ts';
import { dryRunText } from './dryrun.ts';
import { readConnectionFlags } from './flags/connection.ts';
import { CONCURRENCY, MOST_CONCURRENCY, RESULTS, uploadDefaults } from './flags/documents.ts';
import { wholeNumber } from './flags/numbers.ts';
import { namedFormat } from './flags/output.ts';
import { type FlagValues, isOn, textFlag, textFlags } from './flagvalues.ts';
import { MolarCommand } from './molarcommand.ts';
import { planRecord, writeRecord } from './recordoutput.ts';
import { writeRows } from './rowoutput.ts';
import { planRows, type RowPlan } from './rowplan.ts';
import { linkFetching, onePage } from './transfers.ts';

/** Uploads files as documents, each exactly once, and shows the documents; what became of each file goes to a CSV. */
export abstract class UploadCommand extends MolarCommand {
  /** Notes that wait for a good end: with --json, standard error has nothing but the error (contract §4). */
  private readonly held: string[] = [];

  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const plan = planRows(flags, documents.fields, documents.tableColumns, this.context.streams.stdout.isTTY);
    wholeNumber(flags, 'concurrency', 1, MOST_CONCURRENCY);
    const prepared = await this.prepare(flags, textFlags(args, 'file'));
    try {
      for (const note of prepared.notes) await this.tell(note, flags);
      if (isOn(flags, 'dry-run')) await this.show(prepared, flags);
      else if (prepared.single) await this.uploadOne(prepared, flags);
      else await this.uploadMany(prepared, flags, { ...plan, isDefaultLimit: false, limit: undefined });
    } finally {
      await prepared.dispose();
    }
    for (const note of this.held) await this.note(note);
  }

  private async tell(note: string, flags: FlagValues): Promise<void> {
    if (namedFormat(flags) === 'json') this.held.push(note);
    else await this.note(note);
  }

  private prepare(flags: FlagValues, paths: readonly string[]): Promise<PreparedUploads> {
    const { streams, temporaryFolder, env, signal } = this.context;
    const { organization } = readSettings(readConnectionFlags(flags), env);
    const defaults = uploadDefaults(flags);
    const manifest = textFlag(flags, 'manifest');
    const results = textFlag(flags, 'results') || RESULTS;
    checkDefaults(defaults);
    if (isOn(flags, 'token-stdin') && paths.includes('-')) {
      throw usageFailure('--token-stdin and - both read standard input; give the token another way.', {
        source: '--token-stdin',
      });
    }
    return prepareUploads({
      ...{ paths, defaults, results, organization, temporaryFolder, signal },
      ...(manifest !== undefined && { manifest }),
      folder: cwd(),
      stdin: streams.stdin.chunks,
    });
  }

  private async uploadOne(prepared: PreparedUploads, flags: FlagValues): Promise<void> {
    const { context } = this;
    await writeRecord(planRecord(flags, documents.fields, context), documents.fields, flags, context, async () => {
      const { documents: stored, failure } = await this.upload(prepared, flags);
      const [document] = stored;
      if (document === undefined) throw failure ?? new Error('A file is done without its document.');
      return document;
    });
  }

  private async uploadMany(prepared: PreparedUploads, flags: FlagValues, plan: RowPlan): Promise<void> {
    const { context } = this;
    let failed: Failure | undefined;
    const open = async () => {
      const { documents: stored, failure } = await this.upload(prepared, flags);
      failed = failure;
      if (failure !== undefined && stored.length === 0) throw failure;
      return onePage(stored);
    };
    const note = (text: string) => this.tell(text, flags);
    await writeRows({ context, flags, plan, many: documents.many, open, note });
    if (failed !== undefined) throw failed;
    if (context.streams.stderr.isTTY) await note(`What became of each file is in ${prepared.results}.`);
  }

  private async upload(prepared: PreparedUploads, flags: FlagValues): Promise<UploadReport> {
    const { context } = this;
    const client = await this.connect(flags);
    const fetching = await linkFetching(this.connections(flags), context);
    const ready = prepared.plan.flatMap((planned) => (planned.kind === 'ready' ? [planned.upload] : []));
    const total = ready.reduce((sum, { source }) => sum + source.size, 0);
    const quiet = isOn(flags, 'quiet');
    const progress = new ByteProgress(context, { doing: 'Uploaded', files: ready.length, total, quiet });
    const report = await runUploads(prepared, {
      ...{ client, fetching, now: context.clock.now },
      concurrency: wholeNumber(flags, 'concurrency', 1, MOST_CONCURRENCY) ?? CONCURRENCY,
      onBytes: progress.onBytes,
      onSettled: progress.onDone,
      note: (text) => this.tell(text, flags),
    }).finally(() => progress.stop());
    context.signal.throwIfAborted();
    return report;
  }

  /** The requests as they would be sent, the content named instead of shown. */
  private async show({ plan, single }: PreparedUploads, flags: FlagValues): Promise<void> {
    const path = pathOf(operationOf(documents, 'create'));
    const texts = plan.flatMap((planned) =>
      planned.kind === 'ready'
        ? [dryRunText(flags, this.context, { method: 'POST', path, body: shownBody(planned) })]
        : [],
    );
    if (texts.length > 0)
      await this.print(single ? texts.join('') : `[\n${texts.map((text) => text.trimEnd()).join(',\n')}\n]\n`);
    const failure = failureOfChecks(plan);
    if (failure !== undefined) throw failure;
  }
}

function shownBody({ upload }: Extract<PlannedUpload, { kind: 'ready' }>): unknown {
  const { fields, source, sha256 } = upload;
  return {
    ...fields,
    file: { ...fields.file, content: `(base64 of ${source.label}, ${source.size} bytes, sha256 ${sha256})` },
  };
}
