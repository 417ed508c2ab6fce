import { missingDocumentsReport } from '../../cli/office/mirrorreports.ts';
import { reportCommand } from '../../cli/office/reportcommand.ts';

export default class ReportsMissingDocuments extends reportCommand(missingDocumentsReport) {
  static override examples = [
    '<%= config.bin %> reports missing-documents --tag Consent',
    "<%= config.bin %> reports missing-documents --tag Consent --tag 'Medical history' --since -1y --out missing.xlsx",
    '<%= config.bin %> reports missing-documents --tag Consent --patient-status NEW --csv',
  ];
}
