import { TokenRotateCommand } from '../../../cli/serving/tokencommands.ts';

export default class ServerTokensRotate extends TokenRotateCommand {
  static override summary = 'Replace an access token of the embedded server';
  static override description =
    'Prints a new token with the same rights, which works as long as the earlier one was to work. The earlier one ends after --overlap, so that whoever uses it has time to change over.';
  static override examples = [
    '<%= config.bin %> server tokens rotate 3f9a1c0b7d2e --data ./practice',
    '<%= config.bin %> server tokens rotate 3f9a1c0b7d2e --overlap 0 --data ./practice',
  ];
}
