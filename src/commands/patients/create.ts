import { patients } from '../../catalog/resources/patients.ts';
import { createCommand } from '../../cli/crud/writecommands.ts';

export default class PatientsCreate extends createCommand(patients) {
  static override description =
    'Prints the new patient. A lost connection does not create a second one: molar looks for the first before it retries.';
  static override examples = [
    '<%= config.bin %> patients create --data patient.json',
    "<%= config.bin %> patients create --first-name Ann --last-name Example --gender F --date-of-birth 1990-04-12 --patient-status NEW --contact-method 'Email me' --language-type English --preferred-location 1000000000001 --address1 '1 Main St' --city Denver --state CO --postal-code 80202",
    '<%= config.bin %> patients create --data patient.json --set lastName=Example --dry-run',
  ];
}
