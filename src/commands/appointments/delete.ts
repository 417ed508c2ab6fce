import { appointments } from '../../catalog/resources/appointments.ts';
import { deleteCommand } from '../../cli/crud/deletecommand.ts';

export default class AppointmentsDelete extends deleteCommand(appointments, 5000000000001) {
  static override description = 'Asks first on a terminal. Its histories and missed appointments stay.';
}
