import { patients } from '../../catalog/resources/patients.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class PatientsList extends listCommand(patients) {
  static override description = 'A table of the first 100 on a terminal; every patient, as CSV, in a pipe or file.';
  static override examples = [
    '<%= config.bin %> patients list',
    '<%= config.bin %> patients list --filter lastName.starts=Sm --status ACTIVE --out patients.csv',
    '<%= config.bin %> patients list --modified-since 2026-01-01 --fields id,lastName,preferredLocation.id --out patients.csv',
  ];
}
