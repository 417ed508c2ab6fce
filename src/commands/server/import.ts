import { ImportCommand } from '../../cli/serving/importcommand.ts';

export default class ServerImport extends ImportCommand {
  static override summary = "Import records into the server's data, all or nothing";
  static override description =
    'Reads NDJSON, one record a line, in any order. A record with the id of one that exists replaces it. Nothing is imported when a line is wrong or a link leads nowhere; every problem is listed with its line.';
  static override examples = [
    '<%= config.bin %> server import practice.ndjson --data ./practice',
    '<%= config.bin %> server import practice.ndjson --data ./practice --json',
  ];
}
