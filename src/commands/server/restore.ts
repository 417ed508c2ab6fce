import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { CommandInput } from '../../cli/molarcommand.ts';
import { RestoreCommand } from '../../cli/serving/maintenance/copycommands.ts';
import type { RestoreReport } from '../../cli/serving/maintenance/copyreports.ts';
import type { Work } from '../../cli/serving/maintenance/maintenancecommand.ts';
import { dataFlags, serverPlace } from '../../cli/serving/serverfolder.ts';

export default class ServerRestore extends RestoreCommand {
  static override summary = 'Restore a backup into an empty place';
  static override description =
    'Verifies the backup against its manifest, copies it to a new folder or an empty database, compares what is there with the backup, and checks it. The folder takes its name only then; a restore that was interrupted goes on. A backup of one kind of database can be restored to the other. Exits with 6 when what was restored has problems, as the data had before.';
  static override examples = [
    '<%= config.bin %> server restore ./backups/2026-11-21 --data ./practice',
    '<%= config.bin %> server restore ./backups/2026-11-21 --database postgres://molar@db/molar --files s3://documents/molar',
  ];
  static override args = {
    backup: Args.string({ required: true, ignoreStdin: true, description: 'Folder that "server backup" made' }),
  };
  static override flags = { ...dataFlags, json: Flags.boolean({ summary: 'Print one JSON object' }) };

  protected override async perform({ args, flags }: CommandInput, work: Work): Promise<RestoreReport> {
    const { restore } = await import('../../server/maintenance/restore.ts');
    return restore(String(args.backup), serverPlace(flags, this.context.env), work);
  }
}
