import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class MissedappointmentsGet extends GetCommand {
  static override summary = 'Show one missed appointment';
  static override examples = [
    '<%= config.bin %> missedappointments get 3200000000001',
    '<%= config.bin %> missedappointments get 3200000000001 --json',
  ];
  static override args = idArgument('Id of the missed appointment');
  static override flags = getFlags;
  protected override readonly resource = missedAppointments;
}
