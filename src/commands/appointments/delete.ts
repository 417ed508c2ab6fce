import { appointments } from '../../catalog/resources/appointments.ts';
import { DeleteCommand, deleteFlags } from '../../cli/crud/deletecommand.ts';
import { idsArgument } from '../../cli/flags/idlist.ts';

export default class AppointmentsDelete extends DeleteCommand {
  static override summary = 'Delete an appointment';
  static override description = 'Asks first on a terminal. Its histories and missed appointments stay.';
  static override examples = [
    '<%= config.bin %> appointments delete 5000000000001',
    '<%= config.bin %> appointments delete 5000000000001 --yes --json',
  ];
  static override args = idsArgument('Ids of appointments');
  static override flags = deleteFlags;
  protected override readonly resource = appointments;
}
