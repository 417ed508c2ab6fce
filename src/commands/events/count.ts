import { events } from '../../catalog/resources/events.ts';
import { countCommand } from '../../cli/crud/readcommands.ts';

export default class EventsCount extends countCommand(events) {
  static override examples = [
    '<%= config.bin %> events count',
    '<%= config.bin %> events count --location 1000000000001 --from 2026-11-01',
  ];
}
