import { appointmentHistories } from '../../catalog/resources/appointmenthistories.ts';
import { ListCommand, listFlags } from '../../cli/crud/listcommand.ts';

export default class AppointmenthistoriesList extends ListCommand {
  static override summary = 'List appointment histories';
  static override description =
    'Without a date filter every change is listed: molar sends an early date bound, so that the server applies none of its own. --server-defaults leaves that to the server.';
  static override examples = [
    '<%= config.bin %> appointmenthistories list --appointment 5000000000001',
    '<%= config.bin %> appointmenthistories list --modified-since 2026-11-01 --csv > changes.csv',
  ];
  static override flags = listFlags(appointmentHistories);
  protected override readonly resource = appointmentHistories;
}
