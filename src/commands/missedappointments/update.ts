import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';
import { UpdateCommand, updateFlags } from '../../cli/crud/updatecommand.ts';

export default class MissedappointmentsUpdate extends UpdateCommand {
  static override summary = 'Change a missed appointment; only what is given changes';
  static override description = 'The appointment itself stays as it is.';
  static override examples = [
    '<%= config.bin %> missedappointments update 3200000000001 --status BROKEN',
    "<%= config.bin %> missedappointments update 3200000000001 --reason-cancelled 'Called in sick' --cancelled-on 2026-11-20T08:15:00Z",
  ];
  static override args = idArgument('Id of the missed appointment');
  static override flags = updateFlags(missedAppointments);
  protected override readonly resource = missedAppointments;
}
