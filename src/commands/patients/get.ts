import { patients } from '../../catalog/resources/patients.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class PatientsGet extends GetCommand {
  static override summary = 'Show one patient';
  static override examples = [
    '<%= config.bin %> patients get 7000000000114',
    '<%= config.bin %> patients get 7000000000114 --fields firstName,lastName,phones --json',
  ];
  static override args = idArgument('Id of the patient');
  static override flags = getFlags;
  protected override readonly resource = patients;
}
