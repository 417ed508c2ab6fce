import { cwd } from 'node:process';
import { operationOf, pathOf } from '../catalog/catalog.ts';
import { documents } from '../catalog/resources/documents.ts';
import { readSettings } from '../core/connection/settings.ts';
import type { PlannedUpload } from '../core/documents/plan.ts';
import { checkDefaults } from '../core/documents/uploadinput.ts';
import { failureOfChecks, type PreparedUploads, prepareUploads, runUploads } from '../core/documents/uploadrun.ts';
import { usageFailure } from '../core/failure.ts';
import type { Row } from '../core/pages/walk.ts';
import { ByteProgress } from './byteprogress.ts';
import { dryRunText } from './dryrun.ts';
import { readConnectionFlags } from './flags/connection.ts';
import { CONCURRENCY, MOST_CONCURRENCY, RESULTS, uploadDefaults } from './flags/documents.ts';
import { wholeNumber } from './flags/numbers.ts';
import { type FlagValues, isOn, textFlag, textFlags } from './flagvalues.ts';
import { MolarCommand } from './molarcommand.ts';
import { planRecord, writeRecord } from './recordoutput.ts';
import { writeRows } from './rowoutput.ts';
import { planRows } from './rowplan.ts';
import { linkFetching, onePage } from './transfers.ts';

/** Uploads files as documents, each exactly once, and shows the documents; what became of each file goes to a CSV. */
export abstract class UploadCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const plan = planRows(flags, documents.fields, documents.tableColumns, this.context.streams.stdout.isTTY);
    wholeNumber(flags, 'concurrency', 1, MOST_CONCURRENCY);
    const prepared = await this.prepare(flags, textFlags(args, 'file'));
    try {
      for (const note of prepared.notes) await this.note(note);
      if (isOn(flags, 'dry-run')) return await this.show(prepared, flags);
      if (prepared.single) return await this.uploadOne(prepared, flags);
      await this.uploadMany(prepared, flags, { ...plan, isDefaultLimit: false, limit: undefined });
    } finally {
      await prepared.dispose();
    }
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
      const [document] = await this.upload(prepared, flags, (failure) => {
        throw failure;
      });
      if (document === undefined) throw new Error('A file is done without its document.');
      return document;
    });
  }

  private async uploadMany(
    prepared: PreparedUploads,
    flags: FlagValues,
    plan: ReturnType<typeof planRows>,
  ): Promise<void> {
    let failed: unknown;
    const open = async () => {
      const rows = await this.upload(prepared, flags, (failure) => {
        failed = failure;
      });
      if (failed !== undefined && rows.length === 0) throw failed;
      return onePage(rows);
    };
    await writeRows({
      context: this.context,
      flags,
      plan,
      many: documents.many,
      open,
      note: (text) => this.note(text),
    });
    if (failed !== undefined) throw failed;
  }

  private async upload(
    prepared: PreparedUploads,
    flags: FlagValues,
    onFailure: (failure: Error) => void,
  ): Promise<readonly Row[]> {
    const { clock, signal, streams } = this.context;
    const client = await this.connect(flags);
    const fetching = await linkFetching(this.connections(flags), this.context);
    const ready = prepared.plan.flatMap((planned) => (planned.kind === 'ready' ? [planned.upload] : []));
    const total = ready.reduce((sum, { source }) => sum + source.size, 0);
    const progress = new ByteProgress(this.context, {
      doing: 'Uploaded',
      files: ready.length,
      total,
      quiet: isOn(flags, 'quiet'),
    });
    const report = await runUploads(prepared, {
      ...{ client, fetching, now: clock.now },
      concurrency: wholeNumber(flags, 'concurrency', 1, MOST_CONCURRENCY) ?? CONCURRENCY,
      onBytes: progress.onBytes,
      onSettled: progress.onDone,
      note: (text) => this.note(text),
    }).finally(() => progress.stop());
    signal.throwIfAborted();
    await this.tellRepeated(
      report.results.flatMap(({ repeated, outcome }, index) =>
        repeated && prepared.plan[index]?.kind === 'ready'
          ? [`${prepared.plan[index]?.row.file}: stored already as document ${outcome.id}, not stored again.`]
          : [],
      ),
    );
    if (streams.stderr.isTTY && !prepared.single)
      await this.note(`What became of each file is in ${prepared.results}.`);
    if (report.failure !== undefined) onFailure(report.failure);
    return report.documents;
  }

  private async tellRepeated(notes: readonly string[]): Promise<void> {
    if (notes.length <= 5) for (const note of notes) await this.note(note);
    else await this.note(`${notes.length} files were stored already and not stored again.`);
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
