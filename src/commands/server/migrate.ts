import { MigrateCommand } from '../../cli/serving/copycommands.ts';

export default class ServerMigrate extends MigrateCommand {
  static override summary = "Move the server's data to PostgreSQL, or back";
  static override description =
    'Copies every row from one database to another that is empty, then reads both sides and compares them, table by table. No server may run on either side. An interrupted migration resumes when it is run again. The source is not changed. Exits with 6 when documents name files that the source does not have.';
  static override examples = [
    '<%= config.bin %> server migrate --from ./practice --to postgres://molar@db/molar',
    '<%= config.bin %> server migrate --from ./practice --to postgres://molar@db/molar --files-to s3://documents/molar',
    '<%= config.bin %> server migrate --from postgres://molar@db/molar --files-from s3://documents/molar --to ./practice',
  ];
}
