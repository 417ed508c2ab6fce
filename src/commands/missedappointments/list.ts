import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class MissedappointmentsList extends listCommand(missedAppointments) {
  static override examples = [
    '<%= config.bin %> missedappointments list --location 1000000000001 --from 2026-11-01',
    '<%= config.bin %> missedappointments list --patient 7000000000114 --json',
  ];
}
