import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { readSettings } from '../../core/connection/settings.ts';
import { changesTime, unfinishedChanges } from '../../core/exports/changesfile.ts';
import { type Increment, readingBegan } from '../../core/exports/increment.ts';
import type { Proof } from '../../core/pages/complete.ts';
import type { WalkedPage } from '../../core/pages/walkoptions.ts';
import { expectedTotal } from '../exporting/expectedtotal.ts';
import {
  exportToFile,
  filterOf,
  incrementOf,
  linesOf,
  pagesOf,
  type Reading,
  unprovedText,
} from '../exporting/resourceexport.ts';
import { exportSummary, sinceText } from '../exporting/summary.ts';
import { readConnectionFlags } from '../flags/connection.ts';
import { exportFlags, readExportWishes } from '../flags/exports.ts';
import { defaultsFlag, filterFlags, readFilter } from '../flags/filters.ts';
import type { LocalTimes } from '../flags/localtimes.ts';
import { rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { zoneNote } from '../rows/formatter.ts';
import { writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { asyncFlag } from '../streaming/asyncflag.ts';
import { counted, RowProgress } from '../terminal/rowprogress.ts';
import { commonFlags, ResourceCommand } from './resourcecommand.ts';

export function listFlags(resource: Resource): FlagInput {
  const operation = operationOf(resource, 'list');
  const filters = { ...filterFlags(operation.filters ?? {}), ...defaultsFlag(operation) };
  return { ...filters, ...rowFlags, ...exportFlags, ...asyncFlag(resource), ...commonFlags };
}

/** Lists the records of a resource, page by page, to the end; to a file so that a later run can go on (contract §5). */
export abstract class ListCommand extends ResourceCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected readonly verb = 'list';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    if (isOn(flags, 'async')) return this.listAsync(flags);
    const reading = await this.inLocalTime(flags, (times) => this.reading(flags, times));
    await this.warnOfQuotes(reading.filter);
    if (reading.plan.out === undefined) await this.show(reading, flags);
    else await this.export(reading, flags, reading.plan.out);
  }

  private async listAsync(flags: FlagValues): Promise<void> {
    const { listAsync } = await import('../streaming/asynclist.ts');
    const { context, resource } = this;
    const note = (text: string) => this.note(text);
    const connections = this.connections(flags);
    const filterOf = (keys: FilterKeys) => this.filterOf(flags, keys);
    await listAsync(resource, { context, flags, connections, note, filterOf });
  }

  private reading(flags: FlagValues, times: LocalTimes): Reading {
    const { context, operation, resource } = this;
    const filter = readFilter(flags, operation.filters ?? {}, times);
    // What has changed is wanted whole, on a terminal too.
    const all = flags['since-last'] === undefined || flags.limit !== undefined ? flags : { ...flags, all: true };
    const plan = planRows(all, this.fields, resource.tableColumns, context.streams.stdout.isTTY);
    const wishes = readExportWishes(flags, plan, operation);
    const { baseUrl: url, organization } = readSettings(readConnectionFlags(flags), context.env);
    const serverDefaults = isOn(flags, 'server-defaults');
    return { resource, operation, filter, serverDefaults, plan, wishes, url, organization };
  }

  private async show(reading: Reading, flags: FlagValues): Promise<void> {
    const { context, resource } = this;
    const increment = await incrementOf(reading, context);
    const startedAt = context.clock.now();
    let serverTime: number | undefined;
    const onServerTime = (time: number) => {
      serverTime ??= time;
    };
    let proof: Proof | undefined;
    const onProof = (made: Proof) => {
      proof = made;
    };
    const filter = filterOf(reading, increment);
    const lines = await linesOf(reading, flags);
    const counting = new AbortController();
    await writeRows({
      lines,
      context,
      flags,
      plan: reading.plan,
      many: resource.many,
      open: async (progress) => {
        const client = await this.connect(flags);
        if (progress.isShown) void expectedTotal(client, reading, filter, counting.signal, progress);
        const { signal, clock } = context;
        const start = { onServerTime, onProof, read: lines?.read };
        const pages = pagesOf(client, reading, start, { increment, now: clock.now, signal });
        return increment === undefined ? pages : withoutKnown(pages, increment);
      },
      note: (text) => this.note(text),
    }).finally(() => counting.abort());
    await increment?.complete(readingBegan(startedAt, serverTime));
    const unproved = proof && unprovedText(proof, resource);
    if (unproved !== undefined) await this.note(unproved);
    if (increment !== undefined) await this.note(sinceText(increment).trim());
  }

  private async export(reading: Reading, flags: FlagValues, path: string): Promise<void> {
    const { context, resource } = this;
    const progress = new RowProgress(context, isOn(flags, 'quiet'), resource.many);
    try {
      const { resume } = reading.wishes;
      const { receipt, increment, readFrom } = await exportToFile(reading, {
        context,
        flags,
        path,
        changesTime: async () =>
          (resume ? await unfinishedChanges(path) : undefined) ?? changesTime([path], context.clock.now()),
        connect: () => this.connect(flags),
        progress,
        signal: context.signal,
        onResume: (rows) => this.remark(`Going on after ${counted(rows)} ${resource.many}.`),
        onRestart: (reason) => void (reading.plan.format === 'json' || this.note(`Starting over: ${reason}.`)),
      });
      await increment?.complete(readFrom);
      progress.stop();
      const zone = zoneNote(reading.plan, flags, context);
      if (zone !== undefined) await this.note(zone);
      await this.note(exportSummary(receipt, resource, path, increment));
      const unproved = unprovedText(receipt.proof, resource);
      if (unproved !== undefined) await this.note(unproved);
    } finally {
      progress.stop();
    }
  }

  /** A line for who watches: a job is told by one line at the end, and with --json by nothing but an error. */
  private remark(text: string): void {
    if (this.context.streams.stderr.isTTY) void this.note(text);
  }
}

async function* withoutKnown(pages: AsyncIterable<WalkedPage>, increment: Increment) {
  for await (const { rows } of pages) yield { rows: rows.filter(increment.isNew) };
}
