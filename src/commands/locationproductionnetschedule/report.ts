import { ProductionCommand, productionFlags } from '../../cli/reports/productioncommand.ts';

export default class LocationproductionnetscheduleReport extends ProductionCommand {
  static override aliases = ['production:report'];
  static override summary = 'Report the net production scheduled, day by day';
  static override description =
    `On a terminal: one line a day, in dollars: scheduled (USD), with the days of each location's own time zone unless --timezone names one. In a pipe or file: one item an appointment, in cents, as the API gives them: scheduledAmount in JSON, the column scheduledAmountCents in CSV.
When nothing is scheduled: exit 4.`;
  static override examples = [
    '<%= config.bin %> locationproductionnetschedule report --from 2026-11-23 --range 5 --location 1000000000001',
    '<%= config.bin %> locationproductionnetschedule report --from 2026-11-23 --provider 1100000000001,1100000000002 --out production.csv',
    '<%= config.bin %> production report --from 2026-11-23 --timezone America/Denver --json',
  ];
  static override flags = productionFlags;
}
