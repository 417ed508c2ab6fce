import { adjustmentsReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsAdjustments extends reportCommand(adjustmentsReport) {
  static override examples = [
    '<%= config.bin %> reports adjustments',
    '<%= config.bin %> reports adjustments --from -7d --sort amountCents --out adjustments.xlsx',
    '<%= config.bin %> reports adjustments --from month-start --location 1000000000001 --csv',
  ];
}
