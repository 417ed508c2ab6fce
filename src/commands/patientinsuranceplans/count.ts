import { patientInsurancePlans } from '../../catalog/resources/patientinsuranceplans.ts';
import { CountCommand, countFlags } from '../../cli/crud/countcommand.ts';

export default class PatientinsuranceplansCount extends CountCommand {
  static override summary = 'Count patient insurance plans';
  static override examples = [
    '<%= config.bin %> patientinsuranceplans count',
    '<%= config.bin %> patientinsuranceplans count --patient 7000000000114',
  ];
  static override flags = countFlags(patientInsurancePlans);
  protected override readonly resource = patientInsurancePlans;
}
