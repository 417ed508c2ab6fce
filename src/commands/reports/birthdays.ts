import { birthdaysReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsBirthdays extends reportCommand(birthdaysReport) {
  static override examples = [
    '<%= config.bin %> reports birthdays',
    '<%= config.bin %> reports birthdays --from monday --days 14 --fields birthday,turns,patient,emailAddress --csv',
    '<%= config.bin %> reports birthdays --days 31 --out birthdays.html',
  ];
}
