import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { deleteCommand } from '../../cli/crud/deletecommand.ts';

export default class MissedappointmentsDelete extends deleteCommand(missedAppointments, 3200000000001) {
  static override description =
    'Asks first on a terminal. A deleted record cannot be created again: only the server creates missed appointments.';
}
