import { patients } from '../../catalog/resources/patients.ts';
import { calculatedCommand } from '../../cli/crud/completelists.ts';

export default class PatientsCalculated extends calculatedCommand(patients) {
  static override summary = 'Show the last visit date of patients';
  static override examples = [
    '<%= config.bin %> patients calculated --patient 7000000000114,7000000000115',
    '<%= config.bin %> patients calculated --filter patient.id.in=7000000000114 --json',
  ];
}
