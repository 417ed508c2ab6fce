import { ClientRevokeCommand } from '../../../cli/serving/clientcommands.ts';

export default class ServerClientsRevoke extends ClientRevokeCommand {
  static override summary = 'Revoke an API client of the embedded server';
  static override description =
    'The client and every token that it was given stop working at once, on a running server too.';
  static override examples = [
    '<%= config.bin %> server clients revoke 3f9a1c0b7d2e4a5b --data ./practice',
    '<%= config.bin %> server clients revoke 3f9a1c0b7d2e4a5b --data ./practice --json',
  ];
}
