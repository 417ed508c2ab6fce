import { daySheetReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsDaySheet extends reportCommand(daySheetReport) {
  static override examples = [
    '<%= config.bin %> reports day-sheet',
    '<%= config.bin %> reports day-sheet --date yesterday --out yesterday.xlsx',
    '<%= config.bin %> reports day-sheet --date 2026-11-02 --days 5 --by-entry --json',
  ];
}
