import { ClientListCommand } from '../../../cli/serving/clientcommands.ts';

export default class ServerClientsList extends ClientListCommand {
  static override summary = 'List the API clients of the embedded server';
  static override description =
    'Shows what each client may do, until when, and when it last asked for a token; the secrets are not stored.';
  static override examples = [
    '<%= config.bin %> server clients list --data ./practice',
    '<%= config.bin %> server clients list --data ./practice --json',
  ];
}
