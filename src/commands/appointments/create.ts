import { appointments } from '../../catalog/resources/appointments.ts';
import { CreateCommand, createFlags } from '../../cli/crud/createcommand.ts';

export default class AppointmentsCreate extends CreateCommand {
  static override summary = 'Book an appointment';
  static override examples = [
    '<%= config.bin %> appointments create --start 2026-11-24T09:00 --patient 7000000000114 --provider 1100000000001 --operatory 1200000000001',
    '<%= config.bin %> appointments create --data appointment.json --dry-run',
  ];
  static override flags = createFlags(appointments);
  protected override readonly resource = appointments;
}
