import { CheckCommand } from '../../cli/serving/checkcommand.ts';

export default class ServerCheck extends CheckCommand {
  static override summary = "Check the integrity of the server's data";
  static override description =
    'Checks the database itself, every stored record and its links, derived data, ids, the stream, the audit log and document files, with or without a server running. Exits with 0 when there are no problems, else with 9. Problems name the table and the id, never the content of a record.';
  static override examples = [
    '<%= config.bin %> server check --data ./practice',
    '<%= config.bin %> server check --data ./practice --deep --json',
    '<%= config.bin %> server check --data ./practice --repair',
  ];
}
