import { MigrateSchemaCommand } from '../../cli/serving/migrateschemacommand.ts';

export default class ServerMigrateSchema extends MigrateSchemaCommand {
  static override summary = "Bring the tables of the server's database to this version";
  static override description =
    'Does what molar serve does with the tables when it starts: makes them, adds what this version needs, and fills it for the records that are there. Run it as the owner of the tables; a server then needs to read and write rows only. Servers of an earlier version may go on with a PostgreSQL database, until --finish or until none was seen for ten minutes; a data folder must have no server. An interrupted run resumes.';
  static override examples = [
    '<%= config.bin %> server migrate-schema --finish --database postgres://owner@db/molar',
    '<%= config.bin %> server migrate-schema --database postgres://owner@db/molar',
    '<%= config.bin %> server migrate-schema --finish --database postgres://owner@db/molar',
    '<%= config.bin %> server migrate-schema --data ./practice --json',
  ];
}
