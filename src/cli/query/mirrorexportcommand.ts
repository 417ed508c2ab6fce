import * as Args from '@oclif/core/args';
import type { FlagInput } from '@oclif/core/interfaces';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { holdLock } from '../../core/lockfile.ts';
import type { MirrorPlace } from '../../core/mirror/place.ts';
import { guarded } from '../../core/output/atomicfile.ts';
import { makeOwnFolder } from '../../core/output/ownfile.ts';
import { QueryFault } from '../../core/query/fault.ts';
import type { MirrorSource } from '../../core/query/mirrorsource.ts';
import { SqliteSource } from '../../core/query/sqlitesource.ts';
import { folderLine } from '../exporting/summary.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { mirrorFormat, outputFlags } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';
import { MolarCommand } from '../molarcommand.ts';
import { pingFlags } from '../ping.ts';
import { lockOwner } from '../process/lockowner.ts';
import { mirrorFormatOf, namedResources, planMirrorFiles } from './mirrorexportplan.ts';
import { runMirrorExport } from './mirrorexportrun.ts';
import { existingMirror } from './mirrorfile.ts';
import { queryFailure } from './queryfailure.ts';

const { text, toggle } = flagGroup('OUTPUT');
const MIRRORED = STORED_RESOURCES.map(({ name }) => name);

export const mirrorExportArguments = {
  resource: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: `What to export, of ${MIRRORED.join(', ')}; everything that is available where none is named, or ALL`,
  }),
};

export const mirrorExportFlags: FlagInput = {
  to: text('FOLDER', 'Folder of the files; created if missing', { required: true }),
  from: text('FILE.db', "The mirror to export, or postgres://HOST/DATABASE; else the profile's"),
  ...mirrorFormat,
  json: toggle('Print the summary as JSON; errors are JSON too'),
  excel: outputFlags.excel,
  'no-header': outputFlags['no-header'],
  'no-escape-formulas': outputFlags['no-escape-formulas'],
  ...zoneFlags,
  ...pingFlags,
  quiet: talkFlags.quiet,
  profile: connectionFlags.profile,
};

/** Writes whole files from a mirror, as `molar export` writes them, without a request (D52). */
export abstract class MirrorExportCommand extends MolarCommand {
  static override usage = '<%= command.id %> [RESOURCE…] --to FOLDER [FLAGS]';

  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const named = namedResources((args.resource as readonly string[] | undefined) ?? []);
    mirrorFormatOf(flags);
    await this.pinged('molar mirror export', flags, () => this.export(named, flags));
  }

  private async export(named: readonly Resource[] | undefined, flags: FlagValues): Promise<void> {
    const { context } = this;
    const folder = textFlag(flags, 'to') ?? '';
    const source = await openSource(await existingMirror(flags, context));
    try {
      const files = planMirrorFiles(named, source, flags, context.env);
      await guarded(`make the folder ${folder}`, () => makeOwnFolder(folder));
      const lock = `${folder}/.molar-export.lock`;
      const release = await holdLock(lock, `The folder ${folder}`, lockOwner(context.clock));
      try {
        const { run, summary, failure } = await runMirrorExport({
          ...{ context, folder, source, files, quiet: isOn(flags, 'quiet') },
        });
        // With --json standard error has nothing but an error (contract §4).
        if (!isOn(flags, 'json')) await this.note(folderLine(run, folder));
        if (failure !== undefined) throw failure;
        if (isOn(flags, 'json')) await this.print(summary);
      } finally {
        await release();
      }
    } finally {
      await source.close();
    }
  }
}

async function openSource(place: MirrorPlace): Promise<MirrorSource> {
  try {
    if (place.kind === 'file') return await SqliteSource.open(place.name);
    const { PostgresSource } = await import('../../core/query/postgressource.ts');
    return await PostgresSource.open(place);
  } catch (cause) {
    throw cause instanceof QueryFault ? queryFailure(cause, '') : cause;
  }
}
