import { patients } from '../../../catalog/resources/patients.ts';
import { BILLING_TYPES, replaceCommand } from '../../../cli/crud/completelists.ts';

export default class PatientsBillingtypesSet extends replaceCommand(patients, 'billingtypesSet', BILLING_TYPES) {
  static override description = 'The given types become the complete list; those the patient had before are removed.';
  static override examples = [
    '<%= config.bin %> patients billingtypes set 7000000000114 --billing-type 1300000000001 --billing-type 1300000000004',
    '<%= config.bin %> patients billingtypes set 7000000000114 --none',
  ];
}
