import { patientInsurancePlans } from '../../catalog/resources/patientinsuranceplans.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class PatientinsuranceplansGet extends GetCommand {
  static override summary = 'Show one patient insurance plan';
  static override examples = [
    '<%= config.bin %> patientinsuranceplans get 2100000000001',
    '<%= config.bin %> patientinsuranceplans get 2100000000001 --json',
  ];
  static override args = idArgument('Id of the patient insurance plan');
  static override flags = getFlags;
  protected override readonly resource = patientInsurancePlans;
}
