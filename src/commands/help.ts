import { HelpCommand } from '../cli/help/helpcommand.ts';
import { PAGES } from '../cli/help/pages.ts';

export default class HelpOnCommands extends HelpCommand {
  static override summary = 'Show the help of a command, or a page such as filters';
  static override description =
    `Pages: ${PAGES.map(({ name }) => name).join(', ')}. Without a subject: every command and page.`;
  static override examples = [
    '<%= config.bin %> help',
    '<%= config.bin %> help patients list',
    '<%= config.bin %> help filters',
  ];
  static override usage = '<%= command.id %> [COMMAND|PAGE]';
  static override strict = false;
}
