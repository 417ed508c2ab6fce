import { patientInsurancePlans } from '../../catalog/resources/patientinsuranceplans.ts';
import { ListCommand, listFlags } from '../../cli/crud/listcommand.ts';

export default class PatientinsuranceplansList extends ListCommand {
  static override summary = 'List patient insurance plans';
  static override examples = [
    '<%= config.bin %> patientinsuranceplans list --patient 7000000000114',
    '<%= config.bin %> patientinsuranceplans list --modified-since 2026-01-01 --csv > plans.csv',
  ];
  static override flags = listFlags(patientInsurancePlans);
  protected override readonly resource = patientInsurancePlans;
}
