import { events } from '../../catalog/resources/events.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class EventsGet extends GetCommand {
  static override summary = 'Show one calendar event';
  static override examples = [
    '<%= config.bin %> events get 3000000000001',
    '<%= config.bin %> events get 3000000000001 --json',
  ];
  static override args = idArgument('Id of the calendar event');
  static override flags = getFlags;
  protected override readonly resource = events;
}
