import { callListReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsCallList extends reportCommand(callListReport) {
  static override examples = [
    '<%= config.bin %> reports call-list',
    '<%= config.bin %> reports call-list --date +2d --status UNCONFIRMED,LEFT_MESSAGE --csv',
    '<%= config.bin %> reports call-list --split-by location --to call-lists --format xlsx',
  ];
}
