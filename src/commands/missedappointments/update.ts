import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { updateCommand } from '../../cli/crud/writecommands.ts';

export default class MissedappointmentsUpdate extends updateCommand(missedAppointments) {
  static override description = 'The appointment itself stays as it is.';
  static override examples = [
    '<%= config.bin %> missedappointments update 3200000000001 --status BROKEN',
    "<%= config.bin %> missedappointments update 3200000000001 --reason-cancelled 'Called in sick' --cancelled-on 2026-11-20T08:15:00Z",
  ];
}
