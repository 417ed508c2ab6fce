import { MirrorTablesCommand, tablesFlags } from '../../cli/mirror/statuscommands.ts';

export default class MirrorTables extends MirrorTablesCommand {
  static override summary = 'List tables, views and columns of the local copy';
  static override description = 'The server is not contacted.';
  static override examples = [
    '<%= config.bin %> mirror tables',
    '<%= config.bin %> mirror tables --to practice.db --csv',
  ];
  static override flags = tablesFlags;
}
