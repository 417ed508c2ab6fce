import { cwd } from 'node:process';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { readSettings } from '../../core/connection/settings.ts';
import { isSingleChunk } from '../../core/documents/uploads/body.ts';
import { refuseUnknownOwners } from '../../core/documents/uploads/owners.ts';
import { type PlannedUpload, type ReadyUpload, readyUploads } from '../../core/documents/uploads/plan.ts';
import { checkDefaults } from '../../core/documents/uploads/uploadinput.ts';
import { type PreparedUploads, prepareUploads } from '../../core/documents/uploads/uploadprepare.ts';
import { checkedFields, checkedRows, failureOfChecks } from '../../core/documents/uploads/uploadreport.ts';
import { runUploads, type UploadReport } from '../../core/documents/uploads/uploadrun.ts';
import { type Failure, localFailure, usageFailure } from '../../core/failure.ts';
import { dryRunText } from '../crud/dryrun.ts';
import { readConnectionFlags } from '../flags/connection.ts';
import { MAX_CONCURRENCY, RESULTS, UPLOADS, uploadDefaults, uploadFiles } from '../flags/documents.ts';
import { namedFormat } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag, textFlags, wholeNumber } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { byteCollector } from '../process/memory.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows, type RowPlan } from '../rows/plan.ts';
import { planRecord, writeRecord } from '../rows/record.ts';
import { ByteProgress } from '../terminal/progress.ts';
import { chunksUntilAborted } from '../terminal/streams.ts';
import { linkFetching } from './linkfetching.ts';
import { folderLines, planLines, planQuestion, proposalText, standingText } from './uploadplan.ts';

/** Reasons are listed below the table, where there is room for them. */
const CHECKED_COLUMNS = ['status', 'file', 'name', 'patient', 'tags', 'userDefinedDate'];

/** Uploads files as documents, each exactly once, and shows the documents; the outcome of each file goes to a CSV. */
export abstract class UploadCommand extends MolarCommand {
  /** Notes shown only after a success: with --json, standard error has nothing but the error (contract §4). */
  private readonly bufferedNotes: string[] = [];
  private readonly collect = byteCollector();

  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const fields = isOn(flags, 'check') ? checkedFields : documents.fields;
    const columns = isOn(flags, 'check') ? CHECKED_COLUMNS : documents.tableColumns;
    const rows = planRows(flags, fields, columns, this.context.streams.stdout.isTTY);
    const plan = { ...rows, isDefaultLimit: false, limit: undefined };
    wholeNumber(flags, 'concurrency', 1, MAX_CONCURRENCY);
    const prepared = await this.prepare(flags, textFlags(args, 'file'));
    try {
      for (const note of prepared.notes) await this.noteLater(note, flags);
      if (isOn(flags, 'dry-run')) await this.show(prepared, flags);
      else if (isOn(flags, 'check')) await this.check(await this.withOwners(prepared, flags), flags, plan);
      else await this.send(await this.withOwners(prepared, flags), flags, plan);
    } finally {
      await prepared.dispose();
    }
    for (const note of this.bufferedNotes) await this.note(note);
  }

  private async send(prepared: PreparedUploads, flags: FlagValues, plan: RowPlan): Promise<void> {
    if (textFlags(flags, 'layout').length > 0) await this.agree(prepared.plan, flags);
    if (prepared.single) await this.uploadOne(prepared, flags);
    else await this.uploadMany(prepared, flags, plan);
  }

  private async withOwners(prepared: PreparedUploads, flags: FlagValues): Promise<PreparedUploads> {
    // Those of a layout have been found on the server already.
    if (uploadFiles(flags).isReviewed) return prepared;
    const { plan, note } = await refuseUnknownOwners(prepared.plan, () => this.connect(flags), this.context.signal);
    if (note !== undefined) await this.noteLater(note, flags);
    return { ...prepared, plan };
  }

  /** Shows where each file goes before any is sent; asks only on a terminal, where somebody can answer. */
  private async agree(plan: readonly PlannedUpload[], flags: FlagValues): Promise<void> {
    const { streams, signal } = this.context;
    const asks = streams.stdin.isTTY && streams.stderr.isTTY && !isOn(flags, 'yes');
    if (asks || namedFormat(flags) !== 'json') await this.showPlan(plan, flags);
    if (!asks || plan.every(({ kind }) => kind !== 'ready')) return;
    const sure = await streams.confirm(planQuestion(plan), signal).catch(() => false);
    signal.throwIfAborted();
    if (!sure) throw localFailure('run.interrupted', 'Nothing was uploaded.', { hint: 'Answer y, or add --yes.' });
  }

  private async showPlan(plan: readonly PlannedUpload[], flags: FlagValues): Promise<void> {
    const lines = uploadFiles(flags).isReviewed ? folderLines : planLines;
    for (const line of lines(plan, this.context.streams.stderr.columns)) await this.note(line);
  }

  /** Lists the files; for those that no pattern fits, one is proposed. */
  private async check(prepared: PreparedUploads, flags: FlagValues, rows: RowPlan): Promise<void> {
    const { plan, review } = prepared;
    if (uploadFiles(flags).isReviewed && namedFormat(flags) !== 'json') await this.showPlan(plan, flags);
    const unfit = plan.flatMap(({ row }) => row.review?.unfit ?? []);
    if (unfit.length > 0) await this.noteLater(proposalText(unfit), flags);
    await this.list(plan, flags, rows);
    const failure = failureOfChecks(plan, review);
    if (failure !== undefined) throw failure;
  }

  private async list(plan: readonly PlannedUpload[], flags: FlagValues, rows: RowPlan): Promise<void> {
    const { context } = this;
    const note = (text: string) => this.noteLater(text, flags);
    await writeRows({
      context,
      flags,
      plan: rows,
      many: 'files',
      open: async () => singlePage(checkedRows(plan)),
      note,
    });
  }

  /** Shows a note, after the run where standard error is for the error alone. */
  private async noteLater(note: string, flags: FlagValues): Promise<void> {
    if (namedFormat(flags) === 'json') this.bufferedNotes.push(note);
    else await this.note(note);
  }

  private prepare(flags: FlagValues, paths: readonly string[]): Promise<PreparedUploads> {
    const { streams, temporaryFolder, env, signal, clock } = this.context;
    const { organization } = readSettings(readConnectionFlags(flags), env);
    const defaults = uploadDefaults(flags);
    const results = textFlag(flags, 'results') || RESULTS;
    const sends = !isOn(flags, 'dry-run') && !isOn(flags, 'check');
    if (isOn(flags, 'dry-run') && isOn(flags, 'check'))
      throw usageFailure('--dry-run prints requests, --check a list of the files; give one.', { source: '--check' });
    const files = uploadFiles(flags);
    if (files.isReviewed && isOn(flags, 'dry-run'))
      throw usageFailure('--dry-run sends nothing, but --layout has to look up patients; --check lists the files.', {
        source: '--dry-run',
      });
    checkDefaults(defaults);
    if (isOn(flags, 'token-stdin') && paths.includes('-')) {
      const message = '--token-stdin and - both read standard input; give the token another way.';
      throw usageFailure(message, { source: '--token-stdin' });
    }
    const unproved = new Set<string>();
    const onUnproved = (why: string) => {
      if (!unproved.has(why)) this.bufferedNotes.push(`Could not prove that these are all patients: ${why}`);
      unproved.add(why);
    };
    return prepareUploads({
      ...{ paths, defaults, results, organization, temporaryFolder, signal },
      ...files,
      patients: async () => ({ client: await this.connect(flags), now: clock.now, signal, onUnproved }),
      ...(sends && { owner: lockOwner(clock) }),
      folder: cwd(),
      stdin: chunksUntilAborted(streams.stdin.chunks, signal),
      onSpooled: this.collect,
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
      return singlePage(stored);
    };
    const note = (text: string) => this.noteLater(text, flags);
    await writeRows({ context, flags, plan, many: documents.many, open, note });
    if (failed !== undefined) throw failed;
    if (context.streams.stderr.isTTY) await note(`The outcome of each file is in ${prepared.results}.`);
  }

  private async upload(prepared: PreparedUploads, flags: FlagValues): Promise<UploadReport> {
    const { context } = this;
    const client = await this.connect(flags);
    const fetching = await linkFetching(this.connections(flags), context);
    const ready = readyUploads(prepared.plan);
    const total = ready.reduce((sum, { source }) => sum + source.size, 0);
    const quiet = isOn(flags, 'quiet');
    const progress = new ByteProgress(context, { doing: 'Uploaded', files: ready.length, total, quiet });
    const report = await runUploads(prepared, {
      ...{ client, fetching, now: context.clock.now },
      concurrency: wholeNumber(flags, 'concurrency', 1, MAX_CONCURRENCY) ?? UPLOADS,
      onBytes: (bytes, source) => {
        progress.onBytes(bytes);
        if (!isSingleChunk(source)) this.collect(bytes);
      },
      onSkipped: progress.onSkipped,
      onSettled: progress.onDone,
      note: (text) => this.noteLater(text, flags),
    }).finally(() => progress.stop());
    if (context.signal.aborted && namedFormat(flags) !== 'json')
      await this.note(standingText(report.results, prepared.results)).catch(() => undefined);
    context.signal.throwIfAborted();
    return report;
  }

  /** The requests as they would be sent, the content named instead of shown. */
  private async show({ plan, single }: PreparedUploads, flags: FlagValues): Promise<void> {
    const path = pathOf(operationOf(documents, 'create'));
    const texts = readyUploads(plan).map((upload) =>
      dryRunText(flags, this.context, { method: 'POST', path, body: shownBody(upload) }),
    );
    if (texts.length > 0)
      await this.print(single ? texts.join('') : `[\n${texts.map((text) => text.trimEnd()).join(',\n')}\n]\n`);
    const failure = failureOfChecks(plan);
    if (failure !== undefined) throw failure;
  }
}

function shownBody({ fields, source, sha256 }: ReadyUpload): unknown {
  const content = `(base64 of ${source.label}, ${source.size} bytes, sha256 ${sha256})`;
  return { ...fields, file: { ...fields.file, content } };
}
