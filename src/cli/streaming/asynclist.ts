import { operationOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { usageFailure } from '../../core/failure.ts';
import { withEarlyBound } from '../../core/pages/completefilters.ts';
import type { RowPage } from '../../core/pages/page.ts';
import { walkPages } from '../../core/pages/walk.ts';
import type { Connections } from '../connections.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { RowProgress } from '../terminal/rowprogress.ts';
import { deliveredRows } from './delivery.ts';
import { isNoChannel } from './nochannel.ts';

/** What a command gives of itself. */
export interface AsyncListing {
  readonly context: Context;
  readonly flags: FlagValues;
  readonly connections: Connections;
  readonly note: (text: string) => Promise<void>;
  /** The filter that the flags ask for, of these keys. */
  readonly filterOf: (keys: FilterKeys) => Promise<string | undefined>;
}

/** Records that an async endpoint answers with itself (specification, Limits). */
const FIRST_ANSWER = 10;

/** Flags about exports page by page. A page size, which may be a default of the user's own, is of no consequence. */
const WITHOUT_PAGES = ['resume', 'receipt', 'since-last', 'parallel'];

/**
 * Lists by the async endpoint of a resource: the same output as that of its list, in the order of ids, written once
 * all records have come over the stream (D41). A resource without a list is read ten records at a time, which the
 * endpoint answers with itself, where the service has no channel that can be read. Throws a Failure.
 */
export async function listAsync(
  resource: Resource,
  { context, flags, connections, note, filterOf }: AsyncListing,
): Promise<void> {
  const operation = operationOf(resource, 'async');
  checkFlags(flags, resource, operation.filters ?? {});
  const fields = operation.fields ?? resource.fields;
  const plan = planRows(flags, fields, resource.tableColumns, context.streams.stdout.isTTY);
  const asked = await filterOf(operation.filters ?? {});
  const filter = isOn(flags, 'server-defaults') ? asked : withEarlyBound(asked, operation);
  const progress = new RowProgress(context, isOn(flags, 'quiet'), resource.many);
  await writeRows({
    ...{ context, flags, plan, note, many: resource.many },
    open: async () => {
      try {
        const wanted = { filter, fields: plan.fields, onRecords: progress.at };
        const client = await connections.client();
        const policy = connections.retryPolicy();
        const rows = await deliveredRows(resource, wanted, { context, client, policy, note }).catch(async (cause) => {
          // The failure names the list where there is one.
          if (resource.operations.list !== undefined || !isNoChannel(cause)) throw cause;
          await note(
            `${cause.message} The ${resource.many} are asked for ten at a time; each request may send all of them through a channel that others read, and the list is not compared with a count.`,
          );
          return walkPages(client, operation, {
            filter,
            fields: plan.fields,
            pageSize: FIRST_ANSWER,
            limit: plan.limit,
            signal: context.signal,
          });
        });
        return limited(rows, plan.limit);
      } finally {
        progress.stop();
      }
    },
  });
}

/** Refuses what the async endpoint does not do, where the list would. */
function checkFlags(flags: FlagValues, resource: Resource, keys: FilterKeys): void {
  const given = (name: string) => flags[name] !== undefined && flags[name] !== false;
  const idle = WITHOUT_PAGES.find(given);
  if (idle !== undefined) {
    throw usageFailure(`--${idle} does not go with --async: all records come in one delivery.`, {
      source: `--${idle}`,
    });
  }
  const known = new Set(Object.values(keys).flatMap(({ shortcuts }) => shortcuts.map(({ flag }) => flag)));
  const ofList = Object.values(resource.operations.list?.filters ?? {}).flatMap(({ key, shortcuts }) =>
    shortcuts.map(({ flag }) => ({ key, flag })),
  );
  const unknown = ofList.find(({ flag }) => given(flag) && !known.has(flag));
  if (unknown === undefined) return;
  const list = Object.keys(keys).join(', ');
  throw usageFailure(`The async endpoint cannot filter by ${unknown.key}; it can by ${list}.`, {
    source: `--${unknown.flag}`,
  });
}

async function* limited(pages: AsyncIterable<RowPage>, limit = Number.POSITIVE_INFINITY) {
  let left = limit;
  for await (const { rows } of pages) {
    yield { rows: rows.slice(0, left) };
    left -= rows.length;
    if (left <= 0) return;
  }
}
