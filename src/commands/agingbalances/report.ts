import { AgingCommand } from '../../cli/reports/agingcommand.ts';
import { agingFlags } from '../../cli/reports/agingquery.ts';

export default class AgingbalancesReport extends AgingCommand {
  static override aliases = ['aging:report'];
  static override summary = 'Report what guarantors owe, by age';
  static override description =
    `Fetches every page of each location, merges guarantors, and checks the server's sums: buckets and credits must be the balance, and every page must add up (otherwise exit 8). Each id is reported separately; ALL is one part, the organization as a whole. On a terminal: guarantors with the oldest money first, then totals in USD.
In a pipe or file: CSV with one row for each location and guarantor, amounts in dollars, and no row of totals (--totals-only has those and nothing else). JSON is one object: records, locations, totals, check. A location without data is reported on standard error; exit 4 when none has any.`;
  static override examples = [
    '<%= config.bin %> agingbalances report --location 1000000000001',
    '<%= config.bin %> agingbalances report --location 1000000000001,1000000000002 --filter ninetyDays.gt=0 --out aging.csv',
    '<%= config.bin %> agingbalances report --location ALL --totals-only --csv',
    '<%= config.bin %> aging report --location ALL --patient 7000000000877 --json',
  ];
  static override flags = agingFlags;
}
