import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { ListCommand, listFlags } from '../../cli/crud/listcommand.ts';

export default class MissedappointmentsList extends ListCommand {
  static override summary = 'List missed appointments';
  static override examples = [
    '<%= config.bin %> missedappointments list --location 1000000000001 --from 2026-11-01',
    '<%= config.bin %> missedappointments list --patient 7000000000114 --json',
  ];
  static override flags = listFlags(missedAppointments);
  protected override readonly resource = missedAppointments;
}
