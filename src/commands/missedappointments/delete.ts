import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { DeleteCommand, deleteFlags } from '../../cli/crud/deletecommand.ts';
import { idsArgument } from '../../cli/flags/idlist.ts';

export default class MissedappointmentsDelete extends DeleteCommand {
  static override summary = 'Delete a missed appointment';
  static override description =
    'Asks first on a terminal. What is deleted cannot be created again: the server makes missed appointments.';
  static override examples = [
    '<%= config.bin %> missedappointments delete 3200000000001',
    '<%= config.bin %> missedappointments delete 3200000000001 --yes --json',
  ];
  static override args = idsArgument('Ids of missed appointments');
  static override flags = deleteFlags;
  protected override readonly resource = missedAppointments;
}
