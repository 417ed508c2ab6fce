import { events } from '../../catalog/resources/events.ts';
import { getCommand } from '../../cli/crud/readcommands.ts';

export default class EventsGet extends getCommand(events, 3000000000001) {}
