import { scheduleReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsSchedule extends reportCommand(scheduleReport) {
  static override examples = [
    '<%= config.bin %> reports schedule',
    '<%= config.bin %> reports schedule --date monday --days 5 --by provider --out week.xlsx',
    "<%= config.bin %> reports schedule --date 2026-11-24 --location 'Main Street' --out tuesday.html",
  ];
}
