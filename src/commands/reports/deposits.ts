import { depositsReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsDeposits extends reportCommand(depositsReport) {
  static override examples = [
    '<%= config.bin %> reports deposits',
    '<%= config.bin %> reports deposits --date yesterday --out deposits.xlsx',
    '<%= config.bin %> reports deposits --from last-month-start --to month-start --json',
  ];
}
