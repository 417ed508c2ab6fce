import { appointments } from '../../catalog/resources/appointments.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class AppointmentsList extends listCommand(appointments) {
  static override examples = [
    '<%= config.bin %> appointments list --location 1000000000001 --from 2026-11-23 --to 2026-11-27',
    '<%= config.bin %> appointments list --status CONFIRMED --fields id,start,patient.id --out confirmed.csv',
  ];
}
