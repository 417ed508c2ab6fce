import { KeyListCommand } from '../../../cli/serving/keycommands.ts';

export default class ServerKeysList extends KeyListCommand {
  static override summary = 'List the keys that sign download links';
  static override description =
    'Shows the id of each key, when it was made and when it ends. The keys themselves are never shown.';
  static override examples = [
    '<%= config.bin %> server keys list --data ./practice',
    '<%= config.bin %> server keys list --data ./practice --json',
  ];
}
