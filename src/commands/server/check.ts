import { CheckCommand } from '../../cli/serving/checkcommand.ts';

export default class ServerCheck extends CheckCommand {
  static override summary = "Check that the server's data is whole";
  static override description =
    'Looks at the database itself, every stored record and its links, what is derived from records, ids, the stream, the audit log and the files of documents; with and without a server running. Exits with 0 when nothing is wrong, with 9 when something is. Problems name the table and the id, never what a record says.';
  static override examples = [
    '<%= config.bin %> server check --data ./practice',
    '<%= config.bin %> server check --data ./practice --deep --json',
    '<%= config.bin %> server check --data ./practice --repair',
  ];
}
