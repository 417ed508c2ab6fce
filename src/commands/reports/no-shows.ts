import { noShowsReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsNoShows extends reportCommand(noShowsReport) {
  static override examples = [
    '<%= config.bin %> reports no-shows',
    '<%= config.bin %> reports no-shows --from -6m --to yesterday --status NO_SHOW --csv',
    '<%= config.bin %> reports no-shows --from month-start --split-by location --to no-shows',
  ];
}
