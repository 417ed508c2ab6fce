import { appointments } from '../../catalog/resources/appointments.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class AppointmentsGet extends GetCommand {
  static override summary = 'Show one appointment';
  static override examples = [
    '<%= config.bin %> appointments get 5000000000001',
    '<%= config.bin %> appointments get 5000000000001 --json',
  ];
  static override args = idArgument('Id of the appointment');
  static override flags = getFlags;
  protected override readonly resource = appointments;
}
