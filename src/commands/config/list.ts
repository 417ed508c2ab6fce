import { ConfigListCommand } from '../../cli/account/configcommands.ts';

export default class ConfigList extends ConfigListCommand {
  static override summary = 'List the defaults and their values';
  static override examples = ['<%= config.bin %> config list', '<%= config.bin %> config list --json'];
}
