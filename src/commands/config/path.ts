import { ConfigPathCommand } from '../../cli/account/configcommands.ts';

export default class ConfigPath extends ConfigPathCommand {
  static override summary = 'Print where the config file is';
  static override description =
    "The folder is MOLAR_CONFIG_DIR, or the platform's own for configuration. The file is readable by its owner only.";
  static override examples = ['<%= config.bin %> config path'];
}
