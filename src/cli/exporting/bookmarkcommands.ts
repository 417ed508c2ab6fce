import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { Fields } from '../../catalog/fields/kind.ts';
import { text } from '../../catalog/fields/text.ts';
import { dateTime } from '../../catalog/fields/times.ts';
import { readOnly } from '../../catalog/record.ts';
import type { Bookmark } from '../../core/exports/bookmark.ts';
import { localFailure, usageFailure } from '../../core/failure.ts';
import { outputFlags, rowFlags } from '../flags/output.ts';
import { isOn, textFlag } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';
import { MolarCommand } from '../molarcommand.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { bookmarksOf } from './resourceexport.ts';
import { times } from './summary.ts';

const quiet = { quiet: Flags.boolean({ summary: 'Print no notes' }) };

export const bookmarkListFlags = { ...outputFlags, ...zoneFlags, sort: rowFlags.sort, ...quiet };
export const bookmarkArguments = { name: Args.string({ required: true, ignoreStdin: true, description: 'Bookmark' }) };
export const bookmarkResetFlags = {
  resource: Flags.string({ helpValue: 'RESOURCE', summary: 'Only that of this resource, such as patients' }),
  organization: Flags.string({ helpValue: 'ID', summary: 'Only those of this organization' }),
  yes: Flags.boolean({ summary: 'Do not ask; needed where there is no terminal to ask on' }),
  ...quiet,
};

const FIELDS: Fields = {
  name: readOnly(text(), 'Name'),
  resource: readOnly(text(), 'Resource'),
  since: readOnly(dateTime(), 'The next run exports records modified from then on, UTC'),
  lastRun: readOnly(dateTime(), 'When the last complete run began, UTC'),
  filter: readOnly(text(), 'Filter of the exports it belongs to'),
  organization: readOnly(text(), 'Organization id'),
  url: readOnly(text(), 'Address before /api/v1'),
};

/** Lists the bookmarks of `--since-last`. */
export abstract class BookmarkListCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const plan = planRows(flags, FIELDS, Object.keys(FIELDS).slice(0, 5), context.streams.stdout.isTTY);
    const rows = (await bookmarksOf(context).list()).map(({ name, resource, since, runStartedAt, ...more }) => {
      const { filter, organization, url } = more;
      return { name, resource, since, lastRun: runStartedAt, filter, organization, url };
    });
    await writeRows({
      ...{ context, flags, plan, many: 'bookmarks' },
      open: async () => singlePage(rows),
      note: (line) => this.note(line),
    });
  }
}

/** Removes bookmarks of one name, after asking: the next run exports everything. */
export abstract class BookmarkResetCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const bookmarks = bookmarksOf(this.context);
    const all = await bookmarks.list();
    const name = String(args.name);
    const chosen = all.filter(
      (bookmark) =>
        bookmark.name === name &&
        bookmark.resource === (textFlag(flags, 'resource') ?? bookmark.resource) &&
        bookmark.organization === (textFlag(flags, 'organization') ?? bookmark.organization),
    );
    if (chosen.length === 0) throw unknown(name, all);
    if (!isOn(flags, 'yes')) await this.ask(name, chosen);
    for (const bookmark of chosen) await bookmarks.remove(bookmark);
    await this.note(`Removed ${name} of ${chosen.map(({ resource }) => resource).join(', ')}.`);
  }

  private async ask(name: string, chosen: readonly Bookmark[]): Promise<void> {
    const { streams, signal } = this.context;
    if (!streams.stdin.isTTY || !streams.stderr.isTTY) {
      throw usageFailure('There is no terminal to ask on; add --yes to remove without being asked.', {
        source: '--yes',
      });
    }
    const what = `Remove ${times(chosen.length, 'bookmark')} of ${name}? The next run exports everything.`;
    const sure = await streams.confirm(what, signal).catch(() => false);
    signal.throwIfAborted();
    if (!sure) throw localFailure('run.interrupted', 'Nothing was removed.', { hint: 'Answer y, or add --yes.' });
  }
}

function unknown(name: string, all: readonly Bookmark[]) {
  const names = [...new Set(all.map((bookmark) => bookmark.name))];
  const known = names.length === 0 ? 'There are none.' : `There are: ${names.join(', ')}.`;
  return usageFailure(`There is no such bookmark ${name}. ${known}`, { source: 'NAME' });
}
