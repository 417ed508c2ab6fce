import { appointments } from '../../catalog/resources/appointments.ts';
import { updateCommand } from '../../cli/crud/writecommands.ts';

export default class AppointmentsUpdate extends updateCommand(appointments) {
  static override description =
    "Setting the status to BROKEN or NO_SHOW makes a missed appointment; leaving them stamps when it was rescheduled. Times without a zone are read in the zone of --timezone, else the configured one (molar config set timezone), else this computer's.";
  static override examples = [
    '<%= config.bin %> appointments update 5000000000001 --status CONFIRMED',
    '<%= config.bin %> appointments update 5000000000001 --start 2026-11-25T10:30 --duration 45',
  ];
}
