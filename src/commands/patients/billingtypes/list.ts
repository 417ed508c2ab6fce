import { patients } from '../../../catalog/resources/patients.ts';
import { BILLING_TYPES, sublistCommand } from '../../../cli/crud/completelists.ts';

export default class PatientsBillingtypesList extends sublistCommand(patients, 'billingtypesList', BILLING_TYPES) {
  static override examples = [
    '<%= config.bin %> patients billingtypes list 7000000000114',
    '<%= config.bin %> patients billingtypes list 7000000000114 --json',
  ];
}
