import { patients } from '../../catalog/resources/patients.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';
import { UpdateCommand, updateFlags } from '../../cli/crud/updatecommand.ts';

export default class PatientsUpdate extends UpdateCommand {
  static override summary = 'Change a patient; only what is given changes';
  static override description = 'Prints the patient as it is then. --set FIELD=null clears a field.';
  static override examples = [
    '<%= config.bin %> patients update 7000000000114 --email-address ann@example.com --patient-status ACTIVE',
    '<%= config.bin %> patients update 7000000000114 --set preferredName=null --dry-run',
  ];
  static override args = idArgument('Id of the patient');
  static override flags = updateFlags(patients);
  protected override readonly resource = patients;
}
