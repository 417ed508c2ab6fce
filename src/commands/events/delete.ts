import { EventDeleteCommand } from '../../cli/events/eventcommands.ts';

export default class EventsDelete extends EventDeleteCommand {
  static override summary = 'Delete a calendar event, or it and all later ones of its series';
  static override description = 'Asks first on a terminal. Earlier events of a series stay.';
  static override examples = [
    '<%= config.bin %> events delete 3000000000001',
    '<%= config.bin %> events delete 3000000000001 --target series --yes',
  ];
}
