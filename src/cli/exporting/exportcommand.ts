import { join } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { readSettings } from '../../core/connection/settings.ts';
import { checkBookmarkName } from '../../core/exports/bookmark.ts';
import { localFailure } from '../../core/failure.ts';
import { holdLock } from '../../core/lockfile.ts';
import { guarded } from '../../core/output/atomicfile.ts';
import { makeOwnFolder } from '../../core/output/ownfile.ts';
import { connectionFlags, readConnectionFlags, talkFlags } from '../flags/connection.ts';
import { durationFlag } from '../flags/duration.ts';
import { checkResumable, exportFlags, readParallel } from '../flags/exports.ts';
import { quotedWarning } from '../flags/filters.ts';
import { fileFormat, outputFlags, rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';
import { MolarCommand } from '../molarcommand.ts';
import { pingFlags } from '../ping.ts';
import { lockOwner } from '../process/lockowner.ts';
import { durationText } from '../terminal/text.ts';
import { EXPORTABLE, folderFormat, planFiles, withFilePlaces } from './exportplan.ts';
import { runFolder } from './folderrun.ts';
import { changesLine, folderLine } from './summary.ts';

const filterGroup = { helpGroup: 'FILTER' };
const outputGroup = { helpGroup: 'OUTPUT' };

export const exportCommandArgs = {
  resource: Args.string({
    multiple: true,
    required: true,
    ignoreStdin: true,
    description: `What to export, one or more of ${EXPORTABLE.map(({ name }) => name).join(', ')}; ALL: all that need no filter`,
  }),
};

export const exportCommandFlags: FlagInput = {
  to: Flags.string({
    ...outputGroup,
    helpValue: 'FOLDER',
    required: true,
    summary: 'Folder of the files; created if missing',
  }),
  ...fileFormat,
  filter: Flags.string({
    ...filterGroup,
    helpValue: 'RESOURCE:TERM',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'Filter of one resource, such as patients:patientStatus.eq=ACTIVE; may be repeated',
  }),
  fields: Flags.string({
    ...outputGroup,
    helpValue: 'RESOURCE:A,B',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'Fields of one resource, such as patients:id,lastName; may be repeated',
  }),
  'server-defaults': Flags.boolean({
    ...filterGroup,
    summary: 'Let the server apply its own date filters; otherwise molar requests all records',
  }),
  'full-ids': Flags.boolean({
    ...outputGroup,
    summary: 'Also write the ids that exist, so that deleted records can be found',
  }),
  'max-duration': Flags.string({
    helpGroup: 'EXPORT',
    helpValue: 'TIME',
    summary: 'Stop after this time, such as 90m, 2h or 3600s; --resume continues',
  }),
  'since-last': exportFlags['since-last'],
  resume: Flags.boolean({
    helpGroup: 'EXPORT',
    summary: 'Resume an interrupted run of the same command; without one, start a new run',
  }),
  parallel: exportFlags.parallel,
  'page-size': rowFlags['page-size'],
  json: Flags.boolean({ ...outputGroup, summary: 'Print the summary as JSON; errors are JSON too' }),
  ...zoneFlags,
  'no-header': outputFlags['no-header'],
  excel: outputFlags.excel,
  'no-escape-formulas': outputFlags['no-escape-formulas'],
  ...pingFlags,
  ...talkFlags,
  ...connectionFlags,
};

/** Exports several resources into a folder: a file each with its receipt, and one summary (contract §2, §5). */
export abstract class ExportFolderCommand extends MolarCommand {
  static override usage = '<%= command.id %> RESOURCE… --to FOLDER [FLAGS]';

  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    await this.pinged('molar export', flags, () => this.export(flags, args.resource as readonly string[]));
  }

  private async export(flags: FlagValues, names: readonly string[]): Promise<void> {
    const { context } = this;
    const folder = textFlag(flags, 'to') ?? '';
    const longest = durationFlag(flags, 'max-duration');
    const { baseUrl: url, organization } = readSettings(readConnectionFlags(flags), context.env);
    const options = this.options(flags);
    const files = await this.inLocalTime(flags, (times) =>
      planFiles(names, flags, { url, organization }, options, times).map((file) => withFilePlaces(file, context.env)),
    );
    for (const warning of new Set(files.map(({ query }) => quotedWarning(query.filter)))) {
      if (warning !== undefined) await this.note(warning);
    }
    await guarded(`make the folder ${folder}`, () => makeOwnFolder(folder));
    const release = await holdLock(
      join(folder, '.molar-export.lock'),
      `The folder ${folder}`,
      lockOwner(context.clock),
    );
    const overtime = new AbortController();
    const timer = longest === undefined ? undefined : setTimeout(() => overtime.abort(tooLong(longest)), longest);
    try {
      // With --json standard error has nothing but an error (contract §4).
      const say = (text: string) => void (isOn(flags, 'json') || this.note(text));
      const { run, summary, failure } = await runFolder(
        {
          ...{ context, folder, files, resume: isOn(flags, 'resume'), quiet: isOn(flags, 'quiet') },
          connect: () => this.connect(flags),
          signal: AbortSignal.any([context.signal, overtime.signal]),
          remark: (text) => void (context.streams.stderr.isTTY && say(text)),
          note: say,
        },
        { url, organization, sinceLast: textFlag(flags, 'since-last') },
      );
      if (failure === undefined || !isOn(flags, 'json')) {
        const changes = changesLine(run);
        if (changes !== undefined) await this.note(changes);
        await this.note(folderLine(run, folder));
      }
      if (failure !== undefined) throw failure;
      if (isOn(flags, 'json')) await this.print(summary);
    } finally {
      clearTimeout(timer);
      await release();
    }
  }

  private options(flags: FlagValues) {
    const resume = isOn(flags, 'resume');
    if (resume) checkResumable(folderFormat(flags));
    const name = textFlag(flags, 'since-last');
    const sinceLast = name === undefined ? undefined : checkBookmarkName(name, '--since-last');
    return { resume, receipt: true, sinceLast, parallel: readParallel(flags) };
  }
}

function tooLong(milliseconds: number) {
  return localFailure('run.overtime', `The run was stopped after ${durationText(milliseconds / 1000)}.`);
}
