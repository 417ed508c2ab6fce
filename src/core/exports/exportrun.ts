import { basename } from 'node:path';
import { EXIT } from '../../catalog/failures.ts';
import { quantity } from '../count.ts';
import { Failure, isInterruption } from '../failure.ts';
import { holdLock } from '../lockfile.ts';
import { writePages } from '../output/writepages.ts';
import type { Proof } from '../pages/complete.ts';
import { idOf, type Row, type RowPage } from '../pages/page.ts';
import type { WalkedPage } from '../pages/walkoptions.ts';
import { readingBegan } from './bookmark.ts';
import { ExportFile, partPath, targetOf } from './exportfile.ts';
import type { ExportDone, ExportTask, ExportWorld } from './exporttask.ts';
import type { Effort, Journal, PartMark, Progress } from './journal.ts';
import { exactId, removeReceipt, writeReceipt } from './receipt.ts';

/**
 * Exports to a file that is replaced only when it is complete (contract §5). The part and its journal are there before
 * the first request; when the run is interrupted they stay for `--resume`, unless the server refused at once.
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
    return await exportTo(file, task, world);
  } finally {
    await release();
  }
}

/** Milliseconds between two journals: the most that a kill costs. */
const INTERVAL = 1000;

async function exportTo(file: ExportFile, task: ExportTask, world: ExportWorld): Promise<ExportDone> {
  const { earlier } = file;
  const { clock } = world.owner;
  let checkpointed = clock.now();
  const startedAt = earlier?.startedAt ?? new Date(checkpointed).toISOString();
  const warnings = new Map(earlier?.warnings.map((warning) => [JSON.stringify(warning), warning]));
  let readFrom = typeof earlier?.readFrom === 'string' ? Date.parse(earlier.readFrom) : undefined;
  let progress = progressOf(earlier);
  /** As far as a later run can resume: what the journal says. */
  let resumable = progress;
  let proof: Proof = { by: 'none', counted: null, unproved: null };
  let isPublished = false;
  const { rows: rowsBefore, lastId, fetched } = progress;

  const effort = (): Effort => {
    const now = world.statistics();
    return {
      retries: (earlier?.retries ?? 0) + (now?.retries ?? 0),
      throttledMilliseconds: (earlier?.throttledMilliseconds ?? 0) + (now?.throttledMilliseconds ?? 0),
      resumed: earlier === undefined ? 0 : earlier.resumed + 1,
    };
  };
  const journal = (): Omit<Journal, keyof PartMark> => ({
    version: 1,
    ...task.identity,
    sentFilter: task.filter ?? null,
    columns: task.columns,
    startedAt,
    readFrom: readFrom === undefined ? null : new Date(readFrom).toISOString(),
    ...resumable,
    ...effort(),
    warnings: [...warnings.values()],
  });

  /** The pages without what is not new; progress of reading is recorded once a page has been used. */
  async function* received(pages: AsyncIterable<Pick<WalkedPage, 'rows' | 'position'>>): AsyncGenerator<RowPage> {
    for await (const page of pages) {
      world.signal.throwIfAborted();
      yield { rows: task.isNew === undefined ? page.rows : page.rows.filter(task.isNew) };
      progress = {
        ...progress,
        fetched: progress.fetched + page.rows.length,
        pages: progress.pages + 1,
      };
      if (page.position === undefined) continue;
      file.settle();
      resumable = { ...progress, lastId: page.position.lastId };
      const now = clock.now();
      if (task.resumable && now - checkpointed >= INTERVAL) {
        await file.checkpoint(journal());
        checkpointed = now;
      }
    }
    world.signal.throwIfAborted();
  }

  /** The same pages; their records are counted once they have been written. */
  async function* written(pages: AsyncIterable<RowPage>): AsyncGenerator<RowPage> {
    for await (const { rows } of pages) {
      yield { rows };
      progress = {
        ...progress,
        rows: progress.rows + rows.length,
        firstId: progress.firstId ?? idText(rows[0]),
        writtenId: idText(rows.at(-1)) ?? progress.writtenId,
      };
    }
  }

  const finish = async (): Promise<ExportDone> => {
    const { url, organization, resource, fields, format, header, sinceLast } = task.identity;
    const { retries, throttledMilliseconds, resumed } = effort();
    const receipt = {
      file: basename(task.path),
      complete: true as const,
      kind: task.kind,
      ...(task.asOf !== undefined && { asOf: task.asOf }),
      ...{ url, organization, resource, filter: task.filter ?? null, fields, format, header, sinceLast },
      rows: progress.rows,
      pages: progress.pages,
      firstId: exactId(progress.firstId),
      lastId: exactId(progress.writtenId),
      ...file.mark(),
      startedAt,
      endedAt: new Date(clock.now()).toISOString(),
      resumed,
      retries,
      throttledSeconds: Math.round(throttledMilliseconds / 100) / 10,
      warnings: [...warnings.values()],
      proof,
    };
    const done = { receipt, readFrom: readFrom ?? readingBegan(Date.parse(startedAt), undefined) };
    if (task.kind === 'changes' && progress.rows === 0) {
      await file.leave(undefined);
      return done;
    }
    await file.publish();
    isPublished = true;
    await (task.receipt ? writeReceipt(task.path, receipt) : removeReceipt(task.path));
    return done;
  };

  try {
    if (task.resumable) await file.checkpoint(journal());
    if (earlier !== undefined) task.onResume?.(rowsBefore);
    if (file.restart !== undefined) task.onRestart?.(file.restart);
    const pages = await task.open({
      from: earlier === undefined ? undefined : { lastId, fetched },
      onServerTime: (time) => {
        readFrom ??= readingBegan(Date.parse(startedAt), time);
      },
      onWarnings: (all) => {
        for (const warning of all) warnings.set(JSON.stringify(warning), warning);
      },
      onProof: (made) => {
        proof = made;
      },
    });
    const { reorder = (read) => read } = task;
    await writePages(written(reorder(received(pages))), {
      formatter: await task.formatter(rowsBefore),
      sink: file.sink(task.pack),
      begun: file.hasBegun,
      ...(task.shape && { shape: task.shape }),
      onRows: (total) => task.onRows?.(rowsBefore + total),
    });
    return await finish();
  } catch (cause) {
    if (isPublished) throw cause;
    const canResume = task.resumable && !isIncomplete(cause) && (resumable.pages > 0 || !isRefusal(cause));
    task.onInterrupted?.({ ...resumable, ...effort(), resumable: canResume });
    await file.leave(canResume ? journal() : undefined);
    throw canResume ? withResumeHint(cause, resumable.rows) : cause;
  }
}

function progressOf(earlier: Progress | undefined): Progress {
  const { rows = 0, fetched = 0, pages = 0, firstId = null, writtenId = null, lastId = '0' } = earlier ?? {};
  return { rows, fetched, pages, firstId, writtenId, lastId };
}

/** The list ended and records were missing: what was received is not to be continued. */
function isIncomplete(cause: unknown): boolean {
  return cause instanceof Failure && cause.code === 'pages.incomplete';
}

function idText(row: Row | undefined): string | null {
  return row === undefined ? null : String(idOf(row));
}

/** The server refused, or nothing was requested of it: the same command will fail again. */
function isRefusal(cause: unknown): boolean {
  const refusals: readonly number[] = [EXIT.usage, EXIT.auth, EXIT.notFound, EXIT.refused, EXIT.unexpected];
  return !(cause instanceof Failure) || refusals.includes(cause.exitCode);
}

function withResumeHint(cause: unknown, rows: number): unknown {
  if (!(cause instanceof Failure)) return cause;
  const { code, exitCode, status, requestId, items, hint } = cause;
  const again = `Run it again with --resume to continue after ${quantity(rows, 'record')}.`;
  const saysSo = isInterruption(cause) || code === 'run.overtime';
  const next = hint === null || saysSo ? again : `${hint} ${again}`;
  return new Failure(cause.message, { code, exitCode, status, requestId, items, hint: next, cause });
}
