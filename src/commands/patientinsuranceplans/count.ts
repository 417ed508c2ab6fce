import { patientInsurancePlans } from '../../catalog/resources/patientinsuranceplans.ts';
import { countCommand } from '../../cli/crud/readcommands.ts';

export default class PatientinsuranceplansCount extends countCommand(patientInsurancePlans) {
  static override examples = [
    '<%= config.bin %> patientinsuranceplans count',
    '<%= config.bin %> patientinsuranceplans count --patient 7000000000114',
  ];
}
