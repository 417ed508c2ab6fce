import { missingContactsReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsMissingContacts extends reportCommand(missingContactsReport) {
  static override examples = [
    '<%= config.bin %> reports missing-contacts',
    '<%= config.bin %> reports missing-contacts --require email --location 1000000000001 --csv',
    '<%= config.bin %> reports missing-contacts --split-by location --to contacts',
  ];
}
