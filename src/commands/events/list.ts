import { events } from '../../catalog/resources/events.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class EventsList extends listCommand(events) {
  static override examples = [
    '<%= config.bin %> events list --location 1000000000001 --from 2026-11-01 --to 2026-11-30',
    '<%= config.bin %> events list --title Staff --out meetings.csv',
  ];
}
