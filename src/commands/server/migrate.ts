import * as Flags from '@oclif/core/flags';
import type { CommandInput } from '../../cli/molarcommand.ts';
import { MigrateCommand } from '../../cli/serving/maintenance/copycommands.ts';
import type { MigrationReport } from '../../cli/serving/maintenance/copyreports.ts';
import type { Work } from '../../cli/serving/maintenance/maintenancecommand.ts';
import { sideFlags, sideOf } from '../../cli/serving/maintenance/sides.ts';
import { requireFolder } from '../../cli/serving/serverfolder.ts';

export default class ServerMigrate extends MigrateCommand {
  static override summary = "Move the server's data to PostgreSQL, or back";
  static override description =
    'Copies every row from one database to another that is empty, then reads both sides and compares them, table by table. No server may run on either side. A migration that was interrupted goes on where it was when it is run again. The source is left as it is. Exits with 6 when documents name files that the source does not have.';
  static override examples = [
    '<%= config.bin %> server migrate --from ./practice --to postgres://molar@db/molar',
    '<%= config.bin %> server migrate --from ./practice --to postgres://molar@db/molar --files-to s3://documents/molar',
    '<%= config.bin %> server migrate --from postgres://molar@db/molar --files-from s3://documents/molar --to ./practice',
  ];
  static override flags = { ...sideFlags, json: Flags.boolean({ summary: 'Print one JSON object' }) };

  protected override async perform({ flags }: CommandInput, work: Work): Promise<MigrationReport> {
    const [from, to] = [sideOf(flags, 'from', this.context.env), sideOf(flags, 'to', this.context.env)];
    requireFolder(from);
    const { migrate } = await import('../../server/maintenance/migrate/migrate.ts');
    return migrate(from, to, work);
  }
}
