import { ApiCommand } from '../cli/api/command.ts';

export default class Api extends ApiCommand {
  static override summary = 'Send a request to any path of the API and print the response';
  static override description =
    'PATH is taken with or without /api/v1. The method is GET, or POST when --data is given. The whole envelope is ' +
    'printed (data, warnings, errors, meta); with --paginate, every record of a list.';
  static override usage = 'api [METHOD] PATH [FLAGS]';
  static override examples = [
    '<%= config.bin %> api transactiontags',
    '<%= config.bin %> api patients --field filter=patientStatus==ACTIVE --paginate --format ndjson',
    '<%= config.bin %> api PUT patients/7000000000114 --data changes.json',
    '<%= config.bin %> api transactiontags --data - < tag.json',
  ];
}
