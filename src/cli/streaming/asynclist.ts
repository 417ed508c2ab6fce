import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { usageFailure } from '../../core/failure.ts';
import { withEarlyBound } from '../../core/pages/completefilters.ts';
import type { RowPage } from '../../core/pages/page.ts';
import { walkPages } from '../../core/pages/walk.ts';
import { asyncFlag, commonFlags, type Listing, ResourceCommand } from '../crud/resourcecommand.ts';
import { filterFlags } from '../flags/filters.ts';
import { localTimesFlag, rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { writeRows } from '../rows/output.ts';
import { withPlaces } from '../rows/places.ts';
import { planRows } from '../rows/plan.ts';
import { RowProgress } from '../terminal/progress.ts';
import { deliveredRows, isNoChannel } from './delivery.ts';

/** Records in the response of an async endpoint itself (specification, Limits). */
const FIRST_RECORDS = 10;

/** Flags about exports page by page. A page size, which may be a configured default, has no effect. */
const PAGE_FLAGS = ['resume', 'receipt', 'since-last', 'parallel'];

/**
 * Lists by the async endpoint of a resource: the output of its list, written once all records have arrived (D41). Where
 * the service has no channel that can be read, a resource without a list is read ten at a time. Throws a Failure.
 */
export async function listAsync(
  resource: Resource,
  { context, flags, connections, note, filterOf }: Listing,
): Promise<void> {
  const operation = operationOf(resource, 'async');
  checkFlags(flags, resource, operation.filters ?? {});
  const fields = operation.fields ?? resource.fields;
  const chosen = planRows(flags, fields, resource.tableColumns, context.streams.stdout.isTTY);
  const plan = withPlaces(chosen, fields, flags, context.env);
  const given = await filterOf(operation.filters ?? {});
  const filter = isOn(flags, 'server-defaults') ? given : withEarlyBound(given, operation);
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
            `${cause.message} The ${resource.many} are requested ten at a time; each request may send all of them through a channel that others read, and the list is not checked against a count.`,
          );
          return walkPages(client, operation, {
            filter,
            fields: plan.fields,
            pageSize: FIRST_RECORDS,
            limit: plan.limit,
            signal: context.signal,
          });
        });
        return limited(rows, plan.limit);
      } finally {
        await progress.stop();
      }
    },
  });
}

/** Refuses flags of the list that the async endpoint does not support. */
function checkFlags(flags: FlagValues, resource: Resource, keys: FilterKeys): void {
  const given = (name: string) => flags[name] !== undefined && flags[name] !== false;
  const paging = PAGE_FLAGS.find(given);
  if (paging !== undefined) {
    throw usageFailure(`--${paging} does not go with --async: all records arrive in one delivery.`, {
      source: `--${paging}`,
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

/** The list command of a resource that has no list of its own: with and without `--async` it uses the stream. */
export function asyncListCommand(resource: Resource) {
  const { 'page-size': _, ...rows } = rowFlags;
  return class extends ResourceCommand {
    static override summary = `List ${resource.many}`;
    static override flags: FlagInput = {
      ...filterFlags(operationOf(resource, 'async').filters ?? {}),
      ...rows,
      ...asyncFlag(resource),
      ...localTimesFlag,
      ...commonFlags,
    };
    protected override readonly resource = resource;
    protected override readonly verb = 'async';

    override async run(): Promise<void> {
      const { flags } = await this.input();
      await listAsync(resource, this.listing(flags));
    }
  };
}
