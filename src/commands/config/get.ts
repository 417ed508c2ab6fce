import { ConfigGetCommand } from '../../cli/account/configcommands.ts';

export default class ConfigGet extends ConfigGetCommand {
  static override summary = 'Print one default';
  static override examples = ['<%= config.bin %> config get format'];
}
