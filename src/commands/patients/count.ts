import { patients } from '../../catalog/resources/patients.ts';
import { countCommand } from '../../cli/crud/readcommands.ts';

export default class PatientsCount extends countCommand(patients) {
  static override examples = [
    '<%= config.bin %> patients count',
    '<%= config.bin %> patients count --status ACTIVE --location 1000000000001,1000000000002',
  ];
}
