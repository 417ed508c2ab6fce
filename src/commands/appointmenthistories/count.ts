import { appointmentHistories } from '../../catalog/resources/appointmenthistories.ts';
import { CountCommand, countFlags } from '../../cli/crud/countcommand.ts';

export default class AppointmenthistoriesCount extends CountCommand {
  static override summary = 'Count appointment histories';
  static override description =
    'Without a date filter every change is counted: molar sends an early date bound, so that the server applies none of its own. --server-defaults leaves that to the server.';
  static override examples = [
    '<%= config.bin %> appointmenthistories count',
    '<%= config.bin %> appointmenthistories count --appointment 5000000000001',
  ];
  static override flags = countFlags(appointmentHistories);
  protected override readonly resource = appointmentHistories;
}
