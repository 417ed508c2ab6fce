import { appointments } from '../../catalog/resources/appointments.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class AppointmentsGet extends getCommand(appointments, 5000000000001) {}
