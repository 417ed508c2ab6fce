import { recallReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsRecall extends reportCommand(recallReport) {
  static override examples = [
    '<%= config.bin %> reports recall',
    '<%= config.bin %> reports recall --months 12 --include-never-seen --out recall.xlsx',
    '<%= config.bin %> reports recall --sort patient.lastName --fields patient,phones,lastVisitDate --csv',
  ];
}
