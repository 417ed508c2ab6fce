import { patients } from '../../catalog/resources/patients.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class PatientsGet extends getCommand(patients, 7000000000114) {
  static override examples = [
    '<%= config.bin %> patients get 7000000000114',
    '<%= config.bin %> patients get 7000000000114 --fields firstName,lastName,phones --json',
  ];
}
