import { appointmentHistories } from '../../catalog/resources/appointmenthistories.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class AppointmenthistoriesGet extends GetCommand {
  static override summary = 'Show one appointment history';
  static override examples = [
    '<%= config.bin %> appointmenthistories get 10000000000001',
    '<%= config.bin %> appointmenthistories get 10000000000001 --json',
  ];
  static override args = idArgument('Id of the appointment history');
  static override flags = getFlags;
  protected override readonly resource = appointmentHistories;
}
