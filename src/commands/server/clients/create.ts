import { ClientCreateCommand } from '../../../cli/serving/clientcommands.ts';

export default class ServerClientsCreate extends ClientCreateCommand {
  static override summary = 'Create an API client for the embedded server';
  static override description =
    'Prints id and secret once; the server stores only a hash of the secret. With both the client asks for access tokens that work for an hour. It works for 90 days unless --expires says otherwise.';
  static override examples = [
    '<%= config.bin %> server clients create --for demo --scope model:read --label reports --data ./practice',
    '<%= config.bin %> server clients create --for demo --read-only --expires never --json --data ./practice',
  ];
}
