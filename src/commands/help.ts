import { MolarCommand } from '../cli/molarcommand.ts';
import { showHelp } from '../cli/resolution.ts';

export default class HelpOnCommands extends MolarCommand {
  static override summary = 'Show what a command does and takes';
  static override examples = ['<%= config.bin %> help', '<%= config.bin %> help patients list'];
  static override usage = '<%= command.id %> [COMMAND]';
  static override strict = false;

  override async run(): Promise<void> {
    const { argv } = await this.parse(HelpOnCommands);
    await showHelp(argv.map(String), this.config);
  }
}
