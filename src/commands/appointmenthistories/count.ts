import { appointmentHistories } from '../../catalog/resources/appointmenthistories.ts';
import { countCommand } from '../../cli/crud/readcommands.ts';

export default class AppointmenthistoriesCount extends countCommand(appointmentHistories) {
  static override examples = [
    '<%= config.bin %> appointmenthistories count',
    '<%= config.bin %> appointmenthistories count --appointment 5000000000001',
  ];
}
