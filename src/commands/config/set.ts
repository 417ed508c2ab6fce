import { ConfigSetCommand } from '../../cli/account/configcommands.ts';
import { CONFIG_KEYS } from '../../core/profiles/defaults.ts';

export default class ConfigSet extends ConfigSetCommand {
  static override summary = 'Set the default of a flag';
  static override description =
    `A flag on the command line takes precedence. Keys: ${CONFIG_KEYS.map(({ key }) => key).join(', ')}.`;
  static override examples = [
    '<%= config.bin %> config set format json',
    '<%= config.bin %> config set pageSize 200',
    '<%= config.bin %> config set profile work',
  ];
}
