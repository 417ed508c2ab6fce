import { TokenRevokeCommand } from '../../../cli/serving/tokencommands.ts';

export default class ServerTokensRevoke extends TokenRevokeCommand {
  static override summary = 'Revoke an access token of the embedded server';
  static override description = 'The token stops working at once, on a running server too.';
  static override examples = [
    '<%= config.bin %> server tokens revoke 3f9a1c0b7d2e --data ./practice',
    '<%= config.bin %> server tokens revoke 3f9a1c0b7d2e --data ./practice --json',
  ];
}
