import { appointmentHistories } from '../../catalog/resources/appointmenthistories.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class AppointmenthistoriesList extends listCommand(appointmentHistories) {
  static override examples = [
    '<%= config.bin %> appointmenthistories list --appointment 5000000000001',
    '<%= config.bin %> appointmenthistories list --modified-since 2026-11-01 --out changes.csv',
  ];
}
