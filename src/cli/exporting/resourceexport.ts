import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathOf } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { Bookmarks, checkIncrementFilter, type Increment, openIncrement } from '../../core/exports/bookmark.ts';
import { changesPath, removeOtherParts } from '../../core/exports/changesfile.ts';
import { partPath, targetOf } from '../../core/exports/exportfile.ts';
import { runExport } from '../../core/exports/exportrun.ts';
import type { ExportDone, ExportStart, ExportTask } from '../../core/exports/exporttask.ts';
import type { ExportIdentity } from '../../core/exports/journal.ts';
import type { ScanFormat } from '../../core/jsonscan/scanformats.ts';
import { holdLock } from '../../core/lockfile.ts';
import { FORMATS } from '../../core/output/formats.ts';
import type { Proof } from '../../core/pages/complete.ts';
import { readComplete } from '../../core/pages/complete.ts';
import { withEarlyBound } from '../../core/pages/completefilters.ts';
import { countOperationOf, totalOf } from '../../core/pages/countall.ts';
import type { PageOptions } from '../../core/pages/page.ts';
import type { WalkedPage } from '../../core/pages/walkoptions.ts';
import { configFolder } from '../../core/profiles/config.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { TransferStatistics } from '../../core/transport/pacer.ts';
import type { Context } from '../context.ts';
import type { ExportOptions } from '../flags/exports.ts';
import type { FlagValues } from '../flags/values.ts';
import { lockOwner } from '../process/lockowner.ts';
import { periodicCollector, RAW_RECORDS } from '../process/memory.ts';
import { csvOptions, formatterOf, packing, scanFormatOf, shaping } from '../rows/output.ts';
import { type RowPlan, shownLimit } from '../rows/plan.ts';
import { sortPages } from '../rows/sort.ts';
import type { RowProgress } from '../terminal/progress.ts';

/** What is to be read of one resource, and how. */
export interface ResourceQuery {
  readonly resource: Resource;
  readonly operation: Operation;
  /** As the user gave it, without an early bound of molar's own. */
  readonly filter: string | undefined;
  readonly serverDefaults: boolean;
  readonly plan: RowPlan;
  readonly options: ExportOptions;
  /** The server; known before anything is requested. */
  readonly url: string;
  readonly organization: string;
}

/** Bookmarks of `--since-last`, beside the configuration. */
export function bookmarksOf(context: Context): Bookmarks {
  return new Bookmarks(join(configFolder(context.env), 'bookmarks'));
}

/** The increment of `--since-last`, undefined without it. Throws a Failure (exit 2 or 9). */
export async function incrementOf(query: ResourceQuery, context: Context): Promise<Increment | undefined> {
  const { options, url, organization, resource, filter } = query;
  if (options.sinceLast === undefined) return undefined;
  checkIncrementFilter(filter);
  const bookmarks = bookmarksOf(context);
  await bookmarks.prepare();
  const key = { name: options.sinceLast, url, organization, resource: resource.name };
  return openIncrement(bookmarks, key, filter, context.clock.now());
}

/** The scan format of a query whose records are not parsed. */
export async function queryScanFormat(
  { plan, options }: ResourceQuery,
  flags: FlagValues,
): Promise<ScanFormat | undefined> {
  return options.sinceLast === undefined ? scanFormatOf(plan, flags) : undefined;
}

/** The pages of a query, from wherever it is to begin, and complete. */
export function pagesOf(
  client: ApiClient,
  query: ResourceQuery,
  start: Pick<ExportStart, 'onServerTime' | 'onProof'> & Partial<ExportStart> & Pick<PageOptions, 'read'>,
  more: { readonly increment: Increment | undefined; readonly now: () => number; readonly signal: AbortSignal },
): AsyncGenerator<WalkedPage> {
  const { resource, operation, filter, plan, options, serverDefaults } = query;
  const { limit, pageSize, fields } = plan;
  const { increment, now, signal } = more;
  return readComplete(client, operation, {
    ...start,
    ...{ limit, pageSize, serverDefaults, now, signal },
    filter: increment === undefined ? filter : increment.filter,
    // An increment needs a field that may not be among those to show.
    fields: fields && increment ? [...new Set([...fields, 'lastModified'])] : fields,
    count: countOperationOf(resource, filter),
    parallel: options.parallel,
  });
}

/** What could not be proved about the completeness of a list, as a sentence; undefined where nothing, or the user did not request all of it. */
export function unprovedText({ by, unproved }: Proof, { many }: Pick<Resource, 'many'>): string | undefined {
  if (unproved === null || by === 'none') return undefined;
  return `Could not prove that these are all ${many}: ${unproved}`;
}

interface FileExport extends Pick<ExportTask, 'onResume' | 'onRestart' | 'onInterrupted'> {
  readonly context: Context;
  readonly flags: FlagValues;
  /** The complete file; changes go beside it. */
  readonly path: string;
  /** Gives the time in the name of a file of changes. */
  readonly changesTime: () => Promise<string>;
  readonly connect: () => Promise<ApiClient>;
  readonly progress: RowProgress;
  readonly signal: AbortSignal;
  /** Called with the file to be written, before anything is requested. */
  readonly onTarget?: (target: Target) => void;
}

type Target = Pick<ExportTask, 'path' | 'kind'>;

/**
 * Exports a query to a file, changes to one of their own beside it (contract §5). The bookmark does not move: the caller
 * moves it once the output is complete.
 */
export async function exportToFile(
  query: ResourceQuery,
  more: FileExport,
): Promise<ExportDone & { readonly increment: Increment | undefined }> {
  const { context, path } = more;
  const increment = await incrementOf(query, context);
  const written = async (target: Target) => {
    more.onTarget?.(target);
    return { ...(await exportTo(target, query, increment, more)), increment };
  };
  if (increment?.since === undefined) return written({ path, kind: 'whole' });
  const release = await holdLock(`${partPath(await targetOf(path))}.lock`, path, lockOwner(context.clock));
  try {
    const time = await more.changesTime();
    await removeOtherParts(path, query.options.resume ? time : undefined);
    return await written({ path: changesPath(path, time), kind: 'changes' });
  } finally {
    await release();
  }
}

async function exportTo(
  target: Target,
  query: ResourceQuery,
  increment: Increment | undefined,
  more: FileExport,
): Promise<ExportDone> {
  const { context, flags, progress, signal, onResume, onRestart, onInterrupted } = more;
  const { plan, options } = query;
  const filter = filterOf(query, increment);
  const lines = await queryScanFormat(query, flags);
  const collect = periodicCollector(lines && RAW_RECORDS);
  const counting = new AbortController();
  let statistics: (() => TransferStatistics) | undefined;
  try {
    return await runExport(
      {
        ...target,
        identity: identityOf(query, flags),
        filter,
        columns: columnsHash(plan),
        resume: options.resume,
        receipt: options.receipt,
        resumable: FORMATS[plan.format].isResumable && plan.sort === undefined,
        formatter: async (written) =>
          lines?.formatter(written) ?? formatterOf(plan, flags, context, { hidden: [], written }),
        pack: await packing(plan, flags, context, query.resource),
        ...(lines === undefined && shaping(plan)),
        open: async (start) => {
          const client = await more.connect();
          statistics = statisticsFromNow(client);
          if (progress.isShown) void expectedTotal(client, query, filter, counting.signal, progress);
          const { now } = context.clock;
          return pagesOf(client, query, { ...start, read: lines?.read }, { increment, now, signal });
        },
        ...(increment && { isNew: increment.isNew }),
        reorder: (pages) => sortPages(pages, plan.sort, context, (rows) => progress.at(rows)),
        onRows: (rows) => {
          if (plan.sort === undefined) progress.at(rows);
          collect(rows);
        },
        ...(onResume && { onResume }),
        ...(onRestart && { onRestart }),
        ...(onInterrupted && { onInterrupted }),
      },
      { owner: lockOwner(context.clock), signal, statistics: () => statistics?.() },
    );
  } finally {
    counting.abort();
  }
}

/** A hash of the columns of a format that has some; records are as the server sends them. */
export function columnsHash({ format, columns, shape }: RowPlan): string {
  const names = FORMATS[format].content === 'columns' || shape !== undefined ? columns.map(({ name }) => name) : [];
  return createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 16);
}

/** The filter to send: with the bound of the bookmark, and an early date bound where a server may add a late one (D48). */
export function filterOf(query: ResourceQuery, increment: Increment | undefined): string | undefined {
  const filter = increment === undefined ? query.filter : increment.filter;
  return query.serverDefaults ? filter : withEarlyBound(filter, query.operation);
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

/** What has to be the same for another run to resume this one. */
export function identityOf(query: ResourceQuery, flags: FlagValues): ExportIdentity {
  const { url, organization, resource, filter, plan, options } = query;
  return {
    ...{ url, organization, resource: resource.name },
    filter: filter ?? null,
    fields: plan.selection ?? null,
    format: plan.format,
    ...csvOptions(flags),
    limit: shownLimit(plan) ?? null,
    sinceLast: options.sinceLast ?? null,
  };
}

/**
 * Requests how many records there will be, where one cheap request can tell, to estimate the end. Never rejects: without
 * it the progress shows no end.
 */
export async function expectedTotal(
  client: ApiClient,
  { resource, plan }: { readonly resource: Resource; readonly plan: { readonly limit: number | undefined } },
  filter: string | undefined,
  signal: AbortSignal,
  progress: RowProgress,
): Promise<void> {
  const count = countOperationOf(resource, filter);
  if (count === undefined) return;
  try {
    const response = await client.request({ method: 'GET', path: pathOf(count), query: { filter }, signal });
    const total = totalOf(response);
    if (total !== undefined) progress.total = Math.min(total, plan.limit ?? total);
  } catch {
    // A token that may list and not count, or a server that is busy: the export itself reports what matters.
  }
}
