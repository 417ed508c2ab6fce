import { patients } from '../../../catalog/resources/patients.ts';
import { idArgument } from '../../../cli/crud/resourcecommand.ts';
import { SublistCommand, sublistFlags } from '../../../cli/crud/sublistcommands.ts';

export default class PatientsBillingtypesList extends SublistCommand {
  static override summary = 'List the billing types of a patient';
  static override examples = [
    '<%= config.bin %> patients billingtypes list 7000000000114',
    '<%= config.bin %> patients billingtypes list 7000000000114 --json',
  ];
  static override args = idArgument('Id of the patient');
  static override flags = sublistFlags;
  protected override readonly resource = patients;
  protected override readonly verb = 'billingtypesList';
  protected override readonly one = 'billing type';
  protected override readonly many = 'billing types';
}
