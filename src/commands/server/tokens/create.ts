import { TokenCreateCommand } from '../../../cli/serving/tokencommands.ts';

export default class ServerTokensCreate extends TokenCreateCommand {
  static override summary = 'Create an access token for the embedded server';
  static override description =
    'Prints the token once; the server stores only its hash. It works for 90 days unless --expires says otherwise.';
  static override examples = [
    '<%= config.bin %> server tokens create --for demo --scope model:read --data ./practice',
    '<%= config.bin %> server tokens create --for demo --scope model:read --scope model:write --expires 2027-01-01 --label scanner',
    '<%= config.bin %> server tokens create --for demo --read-only --locations 70000000000005 --expires 24h',
  ];
}
