import { productionReport } from '../../cli/office/productionreport.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsProduction extends reportCommand(productionReport) {
  static override examples = [
    '<%= config.bin %> reports production',
    '<%= config.bin %> reports production --by day --from month-start --days 31 --out month.html',
    '<%= config.bin %> reports production --by provider --from monday --days 5 --csv',
  ];
}
