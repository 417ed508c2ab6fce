import { EventCreateCommand } from '../../cli/events/eventcommands.ts';

export default class EventsCreate extends EventCreateCommand {
  static override summary = 'Create a calendar event, or a series of them';
  static override description =
    `Times without a zone are read in the zone of --timezone, else the configured one (molar config set timezone), else this computer's: name that of the location where it is another. A series is shown by its first occurrence: the first matching day on or after --from, which is the day of --start when not given: as written where --start has an offset of its own and no zone is named.

A rule of RFC 5545 may have FREQ=WEEKLY with BYDAY=MO,WE, or FREQ=MONTHLY with BYDAY=2TU or -1FR; INTERVAL; and UNTIL or COUNT. What the API cannot express is refused with the reason.`;
  static override examples = [
    "<%= config.bin %> events create --title 'Staff lunch' --start 2026-12-01T12:00 --timezone America/Denver --duration 45 --location 1000000000001",
    "<%= config.bin %> events create --title 'Staff meeting' --start 2026-12-07T08:00 --location 1000000000001 --recurrence weekly --every 2 --on MON,WED --until 2027-03-01",
    "<%= config.bin %> events create --title Training --start 2026-12-08T13:00 --location 1000000000001 --recurrence monthly --on 'SECOND TUESDAY' --until 2027-11-30",
    "<%= config.bin %> events create --title Closed --start 2026-12-04T00:00 --all-day true --location 1000000000001 --recurrence 'FREQ=MONTHLY;BYDAY=-1FR;COUNT=6' --dry-run",
  ];
}
