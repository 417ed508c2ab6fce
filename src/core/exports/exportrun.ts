import type { Warning } from '../../catalog/failures.ts';
import { EXIT } from '../../catalog/failures.ts';
import { Failure, isInterruption } from '../failure.ts';
import { holdLock } from '../lockfile.ts';
import { writePages } from '../output/writepages.ts';
import type { Proof } from '../pages/complete.ts';
import { idOf, type Row, type RowPage } from '../pages/page.ts';
import type { WalkedPage } from '../pages/walkoptions.ts';
import { ExportFile } from './exportfile.ts';
import type { ExportDone, ExportTask, ExportWorld } from './exporttask.ts';
import { readingBegan } from './increment.ts';
import type { Effort, Journal, Progress } from './journal.ts';
import { type PartMark, partPath, targetOf } from './partialfile.ts';
import { type Receipt, receiptOf, removeReceipt, writeReceipt } from './receipt.ts';

/**
 * Exports to a file that is replaced only when all of it has come (contract §5). The part and its journal are there
 * before the first request; when the run ends early they stay for `--resume`, unless the server refused at once.
 * Throws a Failure: exit 2 when an earlier run was another export, 9 when the disk fails or another process writes
 * the file, and whatever a page throws.
 */
export async function runExport(task: ExportTask, world: ExportWorld): Promise<ExportDone> {
  const target = await targetOf(task.path);
  const release = await holdLock(`${partPath(target)}.lock`, task.path, world.owner);
  try {
    const file = await (task.resume
      ? ExportFile.resume(target, task.identity, { sentFilter: task.filter ?? null, columns: task.columns })
      : ExportFile.begin(target));
    return await new ExportRun(task, world, file).run();
  } finally {
    await release();
  }
}

/** Milliseconds between two journals: what a kill costs is no more than this. */
const INTERVAL = 1000;

class ExportRun {
  private readonly task: ExportTask;
  private readonly world: ExportWorld;
  private readonly file: ExportFile;
  private readonly startedAt: string;
  private readonly earlier: Effort;
  private readonly warnings: Map<string, Warning>;
  private readFrom: number | undefined;
  private progress: Progress;
  /** As far as a later run can resume: what stands in the journal. */
  private resumable: Progress;
  private proof: Proof | undefined;
  private checkpointed: number;
  private published = false;

  constructor(task: ExportTask, world: ExportWorld, file: ExportFile) {
    const { earlier } = file;
    this.task = task;
    this.world = world;
    this.file = file;
    this.checkpointed = world.owner.clock.now();
    this.startedAt = earlier?.startedAt ?? new Date(this.checkpointed).toISOString();
    this.progress = progressOf(earlier);
    this.resumable = this.progress;
    this.earlier = {
      retries: earlier?.retries ?? 0,
      throttledMilliseconds: earlier?.throttledMilliseconds ?? 0,
      resumed: earlier === undefined ? 0 : earlier.resumed + 1,
    };
    this.warnings = new Map(earlier?.warnings.map((warning) => [JSON.stringify(warning), warning]));
    this.readFrom = typeof earlier?.readFrom === 'string' ? Date.parse(earlier.readFrom) : undefined;
  }

  async run(): Promise<ExportDone> {
    const { task, file } = this;
    const { rows, lastId, fetched } = this.progress;
    try {
      if (task.resumable) await file.checkpoint(this.journal());
      if (file.earlier !== undefined) task.onResume?.(rows);
      if (file.restart !== undefined) task.onRestart?.(file.restart);
      const pages = await task.open({
        from: file.earlier === undefined ? undefined : { lastId, fetched },
        onServerTime: (time) => this.readAt(time),
        onWarnings: (warnings) => this.warned(warnings),
        onProof: (proof) => {
          this.proof = proof;
        },
      });
      const { inOrder = (read) => read } = task;
      await writePages(this.written(inOrder(this.taken(pages))), {
        formatter: await task.formatter(rows),
        sink: file.sink(task.wrap),
        begun: file.hasBegun,
        ...(task.shape && { shape: task.shape }),
        onRows: (total) => task.onRows?.(rows + total),
      });
      return await this.finish();
    } catch (cause) {
      if (this.published) throw cause;
      const { resumable } = this;
      const kept = task.resumable && !isIncomplete(cause) && (resumable.pages > 0 || !isRefusal(cause));
      task.onLeft?.({ ...resumable, ...this.effort(), kept });
      await file.leave(kept ? this.journal() : undefined);
      throw kept ? withResumeHint(cause, resumable.rows) : cause;
    }
  }

  /** The pages without what is not new; how far reading has come is noted once a page has been used. */
  private async *taken(pages: AsyncIterable<WalkedPage>): AsyncGenerator<RowPage> {
    const { signal } = this.world;
    for await (const page of pages) {
      signal.throwIfAborted();
      const { isNew } = this.task;
      yield { rows: isNew === undefined ? page.rows : page.rows.filter(isNew) };
      const { lastId, fetched, pages: count } = this.progress;
      this.progress = {
        ...this.progress,
        lastId: page.position?.lastId ?? lastId,
        fetched: fetched + page.rows.length,
        pages: count + 1,
      };
      if (page.position === undefined) continue;
      this.file.settle();
      this.resumable = this.progress;
      const now = this.world.owner.clock.now();
      if (this.task.resumable && now - this.checkpointed >= INTERVAL) {
        await this.file.checkpoint(this.journal());
        this.checkpointed = now;
      }
    }
    signal.throwIfAborted();
  }

  /** The same pages; what they hold is noted once they have been written. */
  private async *written(pages: AsyncIterable<RowPage>): AsyncGenerator<RowPage> {
    for await (const { rows } of pages) {
      yield { rows };
      const { firstId, writtenId } = this.progress;
      this.progress = {
        ...this.progress,
        rows: this.progress.rows + rows.length,
        firstId: firstId ?? idText(rows[0]),
        writtenId: idText(rows.at(-1)) ?? writtenId,
      };
    }
  }

  private readAt(serverTime: number): void {
    this.readFrom ??= readingBegan(Date.parse(this.startedAt), serverTime);
  }

  private warned(warnings: readonly Warning[]): void {
    for (const warning of warnings) this.warnings.set(JSON.stringify(warning), warning);
  }

  private async finish(): Promise<ExportDone> {
    const { task, file, startedAt, progress, proof } = this;
    const mark = file.mark();
    const receipt = receiptOf(task.path, {
      kind: task.kind,
      identity: task.identity,
      sentFilter: task.filter ?? null,
      progress,
      effort: this.effort(),
      mark,
      startedAt,
      endedAt: new Date(this.world.owner.clock.now()).toISOString(),
      warnings: [...this.warnings.values()],
      proof: proof ?? NO_PROOF,
    });
    if (task.kind === 'changes' && progress.rows === 0) {
      await file.leave(undefined);
      return this.done(receipt);
    }
    await file.publish();
    this.published = true;
    await (task.receipt ? writeReceipt(task.path, receipt) : removeReceipt(task.path));
    return this.done(receipt);
  }

  private done(receipt: Receipt): ExportDone {
    return { receipt, readFrom: this.readFrom ?? readingBegan(Date.parse(this.startedAt), undefined) };
  }

  private effort(): Effort {
    const now = this.world.statistics();
    return {
      retries: this.earlier.retries + (now?.retries ?? 0),
      throttledMilliseconds: this.earlier.throttledMilliseconds + (now?.throttledMilliseconds ?? 0),
      resumed: this.earlier.resumed,
    };
  }

  private journal(): Omit<Journal, keyof PartMark> {
    return {
      version: 1,
      ...this.task.identity,
      sentFilter: this.task.filter ?? null,
      columns: this.task.columns,
      startedAt: this.startedAt,
      readFrom: this.readFrom === undefined ? null : new Date(this.readFrom).toISOString(),
      ...this.resumable,
      ...this.effort(),
      warnings: [...this.warnings.values()],
    };
  }
}

/** Of pages that were not read to be complete. */
const NO_PROOF: Proof = { by: 'none', counted: null, unproved: null };

function progressOf(earlier: Progress | undefined): Progress {
  const { rows = 0, fetched = 0, pages = 0, firstId = null, writtenId = null, lastId = '0' } = earlier ?? {};
  return { rows, fetched, pages, firstId, writtenId, lastId };
}

/** The list ended and records were missing: what came is not to be continued. */
function isIncomplete(cause: unknown): boolean {
  return cause instanceof Failure && cause.code === 'pages.incomplete';
}

function idText(row: Row | undefined): string | null {
  return row === undefined ? null : String(idOf(row));
}

/** The server said no, or nothing was asked of it: the same line will not do better as it is. */
function isRefusal(cause: unknown): boolean {
  const refusals: readonly number[] = [EXIT.usage, EXIT.auth, EXIT.notFound, EXIT.refused, EXIT.unexpected];
  return !(cause instanceof Failure) || refusals.includes(cause.exitCode);
}

function withResumeHint(cause: unknown, rows: number): unknown {
  if (!(cause instanceof Failure)) return cause;
  const { code, exitCode, status, requestId, items, hint } = cause;
  const kept = `Run it again with --resume to go on after ${rows.toLocaleString('en-US')} records.`;
  const saysSo = isInterruption(cause) || code === 'run.overtime';
  const keep = hint === null || saysSo ? kept : `${hint} ${kept}`;
  return new Failure(cause.message, { code, exitCode, status, requestId, items, hint: keep, cause });
}
