import { ConfigUnsetCommand } from '../../cli/account/configcommands.ts';

export default class ConfigUnset extends ConfigUnsetCommand {
  static override summary = 'Remove the default of a flag';
  static override examples = ['<%= config.bin %> config unset format'];
}
