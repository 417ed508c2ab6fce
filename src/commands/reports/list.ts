import { ReportsListCommand, reportsListFlags } from '../../cli/office/listcommand.ts';

export default class ReportsList extends ReportsListCommand {
  static override summary = 'List the reports there are';
  static override description =
    'Each is a command: molar reports NAME. molar reports NAME --explain says what it counts, and shows its SQL; molar help reports says what they share.';
  static override examples = ['<%= config.bin %> reports list', '<%= config.bin %> reports list --json'];
  static override flags = reportsListFlags;
}
