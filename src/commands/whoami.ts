import { WhoamiCommand } from '../cli/account/whoamicommand.ts';

export default class Whoami extends WhoamiCommand {
  static override summary = 'Show the server, the organization and the token in use';
  static override description =
    'Says where each of them comes from (flag, environment or profile) and asks the server whether it accepts the ' +
    'token. The token itself is never shown.';
  static override examples = [
    '<%= config.bin %> whoami',
    '<%= config.bin %> whoami --profile work',
    '<%= config.bin %> whoami --json',
  ];
}
