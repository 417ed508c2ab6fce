import { patients } from '../../catalog/resources/patients.ts';
import { updateCommand } from '../../cli/crud/writecommands.ts';

export default class PatientsUpdate extends updateCommand(patients) {
  static override description = 'Prints the changed patient. --set FIELD=null clears a field.';
  static override examples = [
    '<%= config.bin %> patients update 7000000000114 --email-address ann@example.com --patient-status ACTIVE',
    '<%= config.bin %> patients update 7000000000114 --set preferredName=null --dry-run',
  ];
}
