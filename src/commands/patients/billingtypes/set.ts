import { patients } from '../../../catalog/resources/patients.ts';
import { idArgument } from '../../../cli/crud/resourcecommand.ts';
import { ReplaceCommand, replaceFlags } from '../../../cli/crud/sublistcommands.ts';

export default class PatientsBillingtypesSet extends ReplaceCommand {
  static override summary = 'Replace the billing types of a patient';
  static override description = 'The types given become the whole list; those the patient had before are removed.';
  static override examples = [
    '<%= config.bin %> patients billingtypes set 7000000000114 --billing-type 1300000000001 --billing-type 1300000000004',
    '<%= config.bin %> patients billingtypes set 7000000000114 --none',
  ];
  static override args = idArgument('Id of the patient');
  static override flags = replaceFlags('billing-type', 'Id of a billing type; may be repeated');
  protected override readonly resource = patients;
  protected override readonly verb = 'billingtypesSet';
  protected override readonly one = 'billing type';
  protected override readonly many = 'billing types';
  protected override readonly flag = 'billing-type';
}
