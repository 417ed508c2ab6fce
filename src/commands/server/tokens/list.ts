import { TokenListCommand } from '../../../cli/serving/tokencommands.ts';

export default class ServerTokensList extends TokenListCommand {
  static override summary = 'List the access tokens of the embedded server';
  static override description =
    'Shows what each token allows, until when, and when it was last used; the tokens themselves are not stored.';
  static override examples = [
    '<%= config.bin %> server tokens list --data ./practice',
    '<%= config.bin %> server tokens list --data ./practice --json',
  ];
}
