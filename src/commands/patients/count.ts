import { patients } from '../../catalog/resources/patients.ts';
import { CountCommand, countFlags } from '../../cli/crud/countcommand.ts';

export default class PatientsCount extends CountCommand {
  static override summary = 'Count patients';
  static override examples = [
    '<%= config.bin %> patients count',
    '<%= config.bin %> patients count --status ACTIVE --location 1000000000001,1000000000002',
  ];
  static override flags = countFlags(patients);
  protected override readonly resource = patients;
}
