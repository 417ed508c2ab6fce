import { events } from '../../catalog/resources/events.ts';
import { CountCommand, countFlags } from '../../cli/crud/countcommand.ts';

export default class EventsCount extends CountCommand {
  static override summary = 'Count calendar events';
  static override examples = [
    '<%= config.bin %> events count',
    '<%= config.bin %> events count --location 1000000000001 --from 2026-11-01',
  ];
  static override flags = countFlags(events);
  protected override readonly resource = events;
}
