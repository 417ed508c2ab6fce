import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Operation, Resource } from '../../catalog/define.ts';
import { type BookmarkPlace, Bookmarks } from '../../core/exports/bookmark.ts';
import { changesPath, type ExportKind, removeOtherParts } from '../../core/exports/changesfile.ts';
import { runExport } from '../../core/exports/exportrun.ts';
import type { ExportDone, ExportStart, Left } from '../../core/exports/exporttask.ts';
import type { ExportIdentity } from '../../core/exports/identity.ts';
import { checkIncrementFilter, Increment } from '../../core/exports/increment.ts';
import { partPath, targetOf } from '../../core/exports/partialfile.ts';
import type { ScanFormat } from '../../core/jsonscan/scanformats.ts';
import { holdLock } from '../../core/lockfile.ts';
import type { Proof } from '../../core/pages/complete.ts';
import { readComplete } from '../../core/pages/complete.ts';
import { withEarlyBound } from '../../core/pages/completefilters.ts';
import { countOperationOf } from '../../core/pages/countall.ts';
import type { PageOptions } from '../../core/pages/page.ts';
import type { WalkedPage } from '../../core/pages/walkoptions.ts';
import { configFolder } from '../../core/profiles/config.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { TransferStatistics } from '../../core/transport/pacer.ts';
import type { Context } from '../context.ts';
import { type ExportWishes, isResumable } from '../flags/exports.ts';
import type { FlagValues } from '../flags/values.ts';
import { lockOwner } from '../process/lockowner.ts';
import { periodicCollector, RAW_RECORDS } from '../process/memory.ts';
import { csvOptions, formatterOf, lineFormOf, packing } from '../rows/formatter.ts';
import { shaping } from '../rows/output.ts';
import { type RowPlan, shownLimit } from '../rows/plan.ts';
import { mapInOrder } from '../rows/sort.ts';
import type { RowProgress } from '../terminal/progress.ts';
import { expectedTotal } from './expectedtotal.ts';

/** What is to be read of one resource, and how. */
export interface Reading {
  readonly resource: Resource;
  readonly operation: Operation;
  /** What the user asked for, without an early bound of molar's own. */
  readonly filter: string | undefined;
  readonly serverDefaults: boolean;
  readonly plan: RowPlan;
  readonly wishes: ExportWishes;
  /** Where from; known before anything is asked. */
  readonly url: string;
  readonly organization: string;
}

/** Bookmarks of `--since-last`, kept with the configuration. */
export function bookmarksOf(context: Context): Bookmarks {
  return new Bookmarks(join(configFolder(context.env), 'bookmarks'));
}

/** The increment that `--since-last` asks for, undefined without it. Throws a Failure (exit 2 or 9). */
export async function incrementOf(reading: Reading, context: Context): Promise<Increment | undefined> {
  const { wishes, url, organization, resource, filter } = reading;
  if (wishes.sinceLast === undefined) return undefined;
  const place: BookmarkPlace = { name: wishes.sinceLast, url, organization, resource: resource.name };
  checkIncrementFilter(filter);
  const bookmarks = bookmarksOf(context);
  await bookmarks.prepare();
  return Increment.open(bookmarks, place, filter, context.clock.now());
}

/** Lines for a reading that looks into no record. */
export async function linesOf({ plan, wishes }: Reading, flags: FlagValues): Promise<ScanFormat | undefined> {
  return wishes.sinceLast === undefined ? lineFormOf(plan, flags) : undefined;
}

/** The pages of a reading, from wherever it is to begin, and complete. */
export function pagesOf(
  client: ApiClient,
  reading: Reading,
  start: Pick<ExportStart, 'onServerTime' | 'onProof'> & Partial<ExportStart> & Pick<PageOptions, 'read'>,
  more: { readonly increment: Increment | undefined; readonly now: () => number; readonly signal: AbortSignal },
): AsyncGenerator<WalkedPage> {
  const { operation, plan, wishes, serverDefaults } = reading;
  const { limit, pageSize } = plan;
  const { increment, now, signal } = more;
  return readComplete(client, operation, {
    ...start,
    ...{ limit, pageSize, serverDefaults, now, signal },
    filter: increment === undefined ? reading.filter : increment.filter,
    fields: askedFields(reading),
    count: countOperationOf(reading.resource, reading.filter),
    parallel: wishes.parallel,
  });
}

/** What cannot be proved of a reading, as a sentence for standard error; undefined where all of it is, or the user did not ask for all. */
export function unprovedText({ by, unproved }: Proof, { many }: Pick<Resource, 'many'>): string | undefined {
  if (unproved === null || by === 'none') return undefined;
  return `It is not proved that these are all ${many}: ${unproved}`;
}

/** Fields to ask for: what changed is told by a field that may not be among those to show. */
function askedFields({ plan, wishes }: Reading): readonly string[] | undefined {
  if (plan.fields === undefined || wishes.sinceLast === undefined) return plan.fields;
  return [...new Set([...plan.fields, 'lastModified'])];
}

interface FileExport {
  readonly context: Context;
  readonly flags: FlagValues;
  /** The whole file; changes go beside it. */
  readonly path: string;
  /** Gives the time in the name of a file of changes. */
  readonly changesTime: () => Promise<string>;
  readonly connect: () => Promise<ApiClient>;
  readonly progress: RowProgress;
  readonly signal: AbortSignal;
  /** Called with the file to be written, before anything is asked of the server. */
  readonly onTarget?: (target: Target) => void;
  readonly onResume?: (rows: number) => void;
  readonly onRestart?: (reason: string) => void;
  readonly onLeft?: (left: Left) => void;
}

/** The file that an export writes, and what is in it. */
export interface Target {
  readonly path: string;
  readonly kind: ExportKind;
}

/**
 * Exports a reading to a file, changes to one of their own beside it (contract §5). The bookmark does not move: that is
 * for the caller, once the whole output is there.
 */
export async function exportToFile(
  reading: Reading,
  more: FileExport,
): Promise<ExportDone & { readonly increment: Increment | undefined }> {
  const { context, path } = more;
  const increment = await incrementOf(reading, context);
  const written = async (target: Target) => {
    more.onTarget?.(target);
    return { ...(await exportTo(target, reading, increment, more)), increment };
  };
  if (increment?.since === undefined) return written({ path, kind: 'whole' });
  const release = await holdLock(`${partPath(await targetOf(path))}.lock`, path, lockOwner(context.clock));
  try {
    const time = await more.changesTime();
    await removeOtherParts(path, reading.wishes.resume ? time : undefined);
    return await written({ path: changesPath(path, time), kind: 'changes' });
  } finally {
    await release();
  }
}

async function exportTo(
  { path, kind }: Target,
  reading: Reading,
  increment: Increment | undefined,
  more: FileExport,
): Promise<ExportDone> {
  const { context, flags, progress, signal } = more;
  const { plan, wishes } = reading;
  const lines = await linesOf(reading, flags);
  const keepMemory = periodicCollector(lines && RAW_RECORDS);
  const counting = new AbortController();
  let statistics: (() => TransferStatistics) | undefined;
  try {
    return await runExport(
      {
        identity: identityOf(reading, flags),
        filter: filterOf(reading, increment),
        columns: columnsHash(plan),
        path,
        kind,
        resume: wishes.resume,
        receipt: wishes.receipt,
        resumable: isResumable(plan.format) && plan.sort === undefined,
        formatter: async (written) =>
          lines?.formatter(written) ?? formatterOf(plan, flags, context, { hidden: [], written }),
        wrap: await packing(plan, reading.resource.many),
        ...(lines === undefined && shaping(plan)),
        open: async (start) => {
          const client = await more.connect();
          statistics = statisticsFromNow(client);
          const filter = filterOf(reading, increment);
          if (progress.isShown) void expectedTotal(client, reading, filter, counting.signal, progress);
          return pagesOf(
            client,
            reading,
            { ...start, read: lines?.read },
            { increment, now: context.clock.now, signal },
          );
        },
        ...(increment && { isNew: increment.isNew }),
        inOrder: (pages) => mapInOrder(pages, plan.sort, context, (rows) => progress.at(rows)),
        onRows: (rows) => {
          if (plan.sort === undefined) progress.at(rows);
          keepMemory(rows);
        },
        ...(more.onResume && { onResume: more.onResume }),
        ...(more.onRestart && { onRestart: more.onRestart }),
        ...(more.onLeft && { onLeft: more.onLeft }),
      },
      { owner: lockOwner(context.clock), signal, statistics: () => statistics?.() },
    );
  } finally {
    counting.abort();
  }
}

/** Columns of CSV; records of other forms are as the server sends them. */
function columnsHash({ format, columns }: RowPlan): string {
  const names = format === 'csv' ? columns.map(({ name }) => name) : [];
  return createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 16);
}

/**
 * The filter to send: with the bound of the bookmark where there is one, and an early date bound where a service may add
 * a late one (D48).
 */
export function filterOf(reading: Reading, increment: Increment | undefined): string | undefined {
  const filter = increment === undefined ? reading.filter : increment.filter;
  return reading.serverDefaults ? filter : withEarlyBound(filter, reading.operation);
}

/** What a client sends from now on: exports into one folder share it. */
function statisticsFromNow(client: ApiClient): () => TransferStatistics {
  const before = client.statistics;
  return () => {
    const { requests, retries, throttledMilliseconds } = client.statistics;
    return {
      requests: requests - before.requests,
      retries: retries - before.retries,
      throttledMilliseconds: throttledMilliseconds - before.throttledMilliseconds,
    };
  };
}

/** What has to be the same for another run to go on with this one. */
export function identityOf(reading: Reading, flags: FlagValues): ExportIdentity {
  const { url, organization, resource, plan, wishes } = reading;
  return {
    ...{ url, organization, resource: resource.name },
    filter: reading.filter ?? null,
    fields: plan.selection ?? null,
    format: plan.format,
    ...csvOptions(flags),
    limit: shownLimit(plan) ?? null,
    sinceLast: wishes.sinceLast ?? null,
  };
}
