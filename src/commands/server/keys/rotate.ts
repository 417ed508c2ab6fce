import { KeyRotateCommand } from '../../../cli/serving/keycommands.ts';

export default class ServerKeysRotate extends KeyRotateCommand {
  static override summary = 'Make a new key for download links';
  static override description =
    'New links are signed with the new key, on a running server within 5 seconds. Earlier links stay valid for the rest of their 15 minutes, or are refused at once with --now.';
  static override examples = [
    '<%= config.bin %> server keys rotate --data ./practice',
    '<%= config.bin %> server keys rotate --now --data ./practice',
  ];
}
