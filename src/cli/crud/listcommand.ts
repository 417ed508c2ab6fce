import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { readSettings } from '../../core/connection/settings.ts';
import { countText } from '../../core/count.ts';
import { type Increment, readingBegan } from '../../core/exports/bookmark.ts';
import { changesTime, unfinishedChanges } from '../../core/exports/changesfile.ts';
import type { Proof } from '../../core/pages/complete.ts';
import type { WalkedPage } from '../../core/pages/walkoptions.ts';
import {
  expectedTotal,
  exportToFile,
  filterOf,
  incrementOf,
  pagesOf,
  queryScanFormat,
  type ResourceQuery,
  unprovedText,
} from '../exporting/resourceexport.ts';
import { exportSummary, sinceText } from '../exporting/summary.ts';
import { readConnectionFlags } from '../flags/connection.ts';
import { exportFlags, readExportOptions } from '../flags/exports.ts';
import { defaultsFlag, filterFlags, readFilter } from '../flags/filters.ts';
import { localTimesFlag, rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import type { LocalTimes } from '../flags/zone.ts';
import { writeRows, zoneNote } from '../rows/output.ts';
import { withPlaces } from '../rows/places.ts';
import { planRows } from '../rows/plan.ts';
import { RowProgress } from '../terminal/progress.ts';
import { asyncFlag, commonFlags, dateLimitNote, ResourceCommand } from './resourcecommand.ts';

/** The list command of a resource. */
export function listCommand(resource: Resource) {
  const operation = operationOf(resource, 'list');
  return class extends ListCommand {
    static override summary = `List ${resource.many}`;
    static override description = dateLimitNote(resource, operation, 'listed');
    static override flags: FlagInput = {
      ...filterFlags(operation.filters ?? {}),
      ...defaultsFlag(operation),
      ...rowFlags,
      ...exportFlags,
      ...asyncFlag(resource),
      ...localTimesFlag,
      ...commonFlags,
    };
    protected override readonly resource = resource;
  };
}

/** Lists the records of a resource, page by page, to the end; to a file so that a later run can resume (contract §5). */
abstract class ListCommand extends ResourceCommand {
  protected readonly verb = 'list';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    if (isOn(flags, 'async')) return this.listAsync(flags);
    const query = await this.inLocalTime(flags, (times) => this.query(flags, times));
    await this.warnOfQuotes(query.filter);
    if (query.plan.out === undefined) await this.show(query, flags);
    else await this.export(query, flags, query.plan.out);
  }

  private async listAsync(flags: FlagValues): Promise<void> {
    const { listAsync } = await import('../streaming/asynclist.ts');
    await listAsync(this.resource, this.listing(flags));
  }

  private query(flags: FlagValues, times: LocalTimes): ResourceQuery {
    const { context, operation, resource } = this;
    const filter = readFilter(flags, operation.filters ?? {}, times);
    // Changes are listed completely, on a terminal too.
    const all = flags['since-last'] === undefined || flags.limit !== undefined ? flags : { ...flags, all: true };
    const { fields } = this;
    const chosen = planRows(all, fields, resource.tableColumns, context.streams.stdout.isTTY);
    const plan = withPlaces(chosen, fields, all, context.env);
    const options = readExportOptions(flags, plan, operation);
    const { baseUrl: url, organization } = readSettings(readConnectionFlags(flags), context.env);
    const serverDefaults = isOn(flags, 'server-defaults');
    return { resource, operation, filter, serverDefaults, plan, options, url, organization };
  }

  private async show(query: ResourceQuery, flags: FlagValues): Promise<void> {
    const { context, resource } = this;
    const increment = await incrementOf(query, context);
    const startedAt = context.clock.now();
    let serverTime: number | undefined;
    const onServerTime = (time: number) => {
      serverTime ??= time;
    };
    let proof: Proof | undefined;
    const onProof = (made: Proof) => {
      proof = made;
    };
    const filter = filterOf(query, increment);
    const lines = await queryScanFormat(query, flags);
    const counting = new AbortController();
    await writeRows({
      lines,
      context,
      flags,
      plan: query.plan,
      many: resource.many,
      open: async (progress) => {
        const client = await this.connect(flags);
        if (progress.isShown) void expectedTotal(client, query, filter, counting.signal, progress);
        const { signal, clock } = context;
        const start = { onServerTime, onProof, read: lines?.read };
        const pages = pagesOf(client, query, start, { increment, now: clock.now, signal });
        return increment === undefined ? pages : withoutKnown(pages, increment);
      },
      note: (text) => this.note(text),
    }).finally(() => counting.abort());
    await increment?.complete(readingBegan(startedAt, serverTime));
    const unproved = proof && unprovedText(proof, resource);
    if (unproved !== undefined) await this.note(unproved);
    if (increment !== undefined) await this.note(sinceText(increment).trim());
  }

  private async export(query: ResourceQuery, flags: FlagValues, path: string): Promise<void> {
    const { context, resource } = this;
    const progress = new RowProgress(context, isOn(flags, 'quiet'), resource.many);
    try {
      const { resume } = query.options;
      const { receipt, increment, readFrom } = await exportToFile(query, {
        context,
        flags,
        path,
        changesTime: async () =>
          (resume ? await unfinishedChanges(path) : undefined) ?? changesTime([path], context.clock.now()),
        connect: () => this.connect(flags),
        progress,
        signal: context.signal,
        onResume: (rows) => this.remark(`Resuming after ${countText(rows)} ${resource.many}.`),
        onRestart: (reason) => void (query.plan.format === 'json' || this.note(`Starting over: ${reason}.`)),
      });
      await increment?.complete(readFrom);
      await progress.stop();
      const zone = zoneNote(query.plan, flags, context);
      if (zone !== undefined) await this.note(zone);
      await this.note(exportSummary(receipt, resource, path, increment));
      const unproved = unprovedText(receipt.proof, resource);
      if (unproved !== undefined) await this.note(unproved);
    } finally {
      await progress.stop();
    }
  }

  /** A note for someone who watches: a job gets one line at the end, and with --json nothing but an error. */
  private remark(text: string): void {
    if (this.context.streams.stderr.isTTY) void this.note(text);
  }
}

async function* withoutKnown(pages: AsyncIterable<WalkedPage>, increment: Increment) {
  for await (const { rows } of pages) yield { rows: rows.filter(increment.isNew) };
}
