import { EventUpdateCommand } from '../../cli/events/eventcommands.ts';

export default class EventsUpdate extends EventUpdateCommand {
  static override summary = 'Change a calendar event, or it and all later ones of its series';
  static override description =
    "Only what is given changes. With --target series a new start or duration moves all later occurrences along, and a new recurrence creates them again. Times without a zone are read in the zone of --timezone, else the configured one (molar config set timezone), else this computer's.";
  static override examples = [
    "<%= config.bin %> events update 3000000000001 --title 'Staff lunch' --duration 45",
    '<%= config.bin %> events update 3000000000001 --start 2026-12-07T08:30 --target series',
    '<%= config.bin %> events update 3000000000001 --recurrence weekly --on TUE --until 2027-03-01 --target series',
    '<%= config.bin %> events update 3000000000001 --recurrence none --target series',
  ];
}
