import { patientInsurancePlans } from '../../catalog/resources/patientinsuranceplans.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class PatientinsuranceplansList extends listCommand(patientInsurancePlans) {
  static override examples = [
    '<%= config.bin %> patientinsuranceplans list --patient 7000000000114',
    '<%= config.bin %> patientinsuranceplans list --modified-since 2026-01-01 --out plans.csv',
  ];
}
