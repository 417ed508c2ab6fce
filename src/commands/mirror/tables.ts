import { MirrorTablesCommand, tablesFlags } from '../../cli/mirror/tablescommand.ts';

export default class MirrorTables extends MirrorTablesCommand {
  static override summary = 'List tables, views and columns of the local copy';
  static override description = [
    'The server is not contacted.',
    '--format dbt prints a sources file for a dbt project: tables, columns, and data tests of ids and links. --format datasette prints metadata for Datasette: titles, descriptions, units, and which tables are of no interest.',
  ].join('\n\n');
  static override examples = [
    '<%= config.bin %> mirror tables',
    '<%= config.bin %> mirror tables --to practice.db --csv',
    '<%= config.bin %> mirror tables --to practice.db --format dbt --out models/molar.yml',
    '<%= config.bin %> mirror tables --to practice.db --format datasette > metadata.json',
  ];
  static override flags = tablesFlags;
}
