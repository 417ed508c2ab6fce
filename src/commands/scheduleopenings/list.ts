import { OpeningsCommand, openingsFlags } from '../../cli/reports/openingscommand.ts';

export default class ScheduleopeningsList extends OpeningsCommand {
  static override aliases = ['openings:list'];
  static override summary = 'List free slots of the schedule';
  static override description =
    `On a terminal: a calendar, day by day, of the first 100 slots, with times in the zone of --timezone, else the configured one (molar config set timezone), else this computer's. With --sort: a table with a row a slot. In a pipe or file: CSV with one row a slot, start and end in UTC. JSON: the records of the API, one for each provider, operatory and day.
A location has openings only where provider hours are set up.`;
  static override examples = [
    '<%= config.bin %> scheduleopenings list --location 1000000000001 --from 2026-11-23 --to 2026-11-27',
    '<%= config.bin %> scheduleopenings list --location 1000000000001 --from 2026-11-23 --to 2026-12-22 --min-length 60 --booking-type NEW_PATIENT --out openings.csv',
    '<%= config.bin %> openings list --location 1000000000001 --from 2026-11-23 --to 2026-11-27 --provider 1100000000001 --timezone America/Denver',
  ];
  static override flags = openingsFlags;
}
