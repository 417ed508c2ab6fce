import * as Flags from '@oclif/core/flags';
import { isOn } from '../../cli/flags/values.ts';
import type { CommandInput } from '../../cli/molarcommand.ts';
import { CheckCommand } from '../../cli/serving/maintenance/checkcommand.ts';
import type { CheckReport } from '../../cli/serving/maintenance/checkreport.ts';
import type { Work } from '../../cli/serving/maintenance/maintenancecommand.ts';
import { dataFlags, requireFolder, serverPlace } from '../../cli/serving/serverfolder.ts';

export default class ServerCheck extends CheckCommand {
  static override summary = "Check that the server's data is whole";
  static override description =
    'Looks at the database itself, every stored record and its links, what is derived from records, ids, the stream, the audit log and the files of documents; with and without a server running. Exits with 0 when nothing is wrong, with 9 when something is. Problems name the table and the id, never what a record says.';
  static override examples = [
    '<%= config.bin %> server check --data ./practice',
    '<%= config.bin %> server check --data ./practice --deep --json',
    '<%= config.bin %> server check --data ./practice --repair',
  ];
  static override flags = {
    ...dataFlags,
    deep: Flags.boolean({ summary: 'Read every file and compare its SHA-256' }),
    repair: Flags.boolean({
      summary:
        'Finish removals, remove files without a document, raise sequences, and make the ledger again; exits with 6 when something else is left',
    }),
    json: Flags.boolean({ summary: 'Print one JSON object' }),
  };

  protected override async perform({ flags }: CommandInput, work: Work): Promise<CheckReport> {
    const place = serverPlace(flags, this.context.env);
    requireFolder(place);
    const { checkPlace } = await import('../../server/maintenance/check/check.ts');
    return checkPlace(place, { ...work, deep: isOn(flags, 'deep'), repair: isOn(flags, 'repair') });
  }
}
