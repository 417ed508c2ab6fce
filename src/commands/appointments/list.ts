import { appointments } from '../../catalog/resources/appointments.ts';
import { ListCommand, listFlags } from '../../cli/crud/listcommand.ts';

export default class AppointmentsList extends ListCommand {
  static override summary = 'List appointments';
  static override examples = [
    '<%= config.bin %> appointments list --location 1000000000001 --from 2026-11-23 --to 2026-11-27',
    '<%= config.bin %> appointments list --status CONFIRMED --fields id,start,patient.id --csv > confirmed.csv',
  ];
  static override flags = listFlags(appointments);
  protected override readonly resource = appointments;
}
