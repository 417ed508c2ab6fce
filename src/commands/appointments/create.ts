import { appointments } from '../../catalog/resources/appointments.ts';
import { createCommand } from '../../cli/crud/writecommands.ts';

export default class AppointmentsCreate extends createCommand(appointments) {
  static override summary = 'Book an appointment';
  static override examples = [
    '<%= config.bin %> appointments create --start 2026-11-24T09:00 --patient 7000000000114 --provider 1100000000001 --operatory 1200000000001',
    '<%= config.bin %> appointments create --data appointment.json --dry-run',
  ];
}
