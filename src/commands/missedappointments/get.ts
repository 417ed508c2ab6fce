import { missedAppointments } from '../../catalog/resources/missedappointments.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class MissedappointmentsGet extends getCommand(missedAppointments, 3200000000001) {}
