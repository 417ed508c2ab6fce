import { ConfigSetCommand, configFlags, configSetArguments } from '../../cli/account/configcommands.ts';

export default class ConfigSet extends ConfigSetCommand {
  static override summary = 'Set the default of a flag';
  static override description =
    'A flag on the command line comes before it. Keys: profile, format, pageSize, maxRetries, caCert.';
  static override examples = [
    '<%= config.bin %> config set format json',
    '<%= config.bin %> config set pageSize 200',
    '<%= config.bin %> config set profile work',
  ];
  static override args = configSetArguments;
  static override flags = configFlags;
}
