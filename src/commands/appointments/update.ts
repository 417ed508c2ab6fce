import { appointments } from '../../catalog/resources/appointments.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';
import { UpdateCommand, updateFlags } from '../../cli/crud/updatecommand.ts';

export default class AppointmentsUpdate extends UpdateCommand {
  static override summary = 'Change an appointment; only what is given changes';
  static override description =
    "Setting the status to BROKEN or NO_SHOW makes a missed appointment; leaving them stamps when it was rescheduled. Times without a zone stand in that of --timezone, else the configured one (molar config set timezone), else this computer's.";
  static override examples = [
    '<%= config.bin %> appointments update 5000000000001 --status CONFIRMED',
    '<%= config.bin %> appointments update 5000000000001 --start 2026-11-25T10:30 --duration 45',
  ];
  static override args = idArgument('Id of the appointment');
  static override flags = updateFlags(appointments);
  protected override readonly resource = appointments;
}
