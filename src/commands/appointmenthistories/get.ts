import { appointmentHistories } from '../../catalog/resources/appointmenthistories.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class AppointmenthistoriesGet extends getCommand(appointmentHistories, 10000000000001) {}
