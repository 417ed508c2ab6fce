import { WEEKS } from '../../catalog/resources/events.ts';
import type { Page } from './page.ts';

/** The two forms of `--recurrence` (contract §2), and what the API can express. */
export const RECURRENCE: Page = {
  name: 'recurrence',
  about: 'series of calendar events, in words or as a rule',
  sections: [
    {
      heading: 'In words',
      blocks: [
        'weekly takes weekdays in --on, the day of the event when there are none; monthly takes one week and one weekday. --every N means every N weeks or months, 1 to 52. --from and --until are dates; both are included, and a series lasts two years at most.',
        {
          code: [
            'molar events create --title Meeting --start 2026-12-07T08:00 --location 1000000000001 --recurrence weekly --every 2 --on MON,WED --until 2027-03-01',
            "molar events create --title Meeting --start 2026-12-07T08:00 --location 1000000000001 --recurrence monthly --on 'SECOND TUESDAY' --until 2027-03-01",
          ],
        },
        `Weeks of a month: ${WEEKS.join(', ')}.`,
      ],
    },
    {
      heading: 'As a rule of RFC 5545',
      blocks: [
        {
          rows: [
            ['FREQ', 'WEEKLY or MONTHLY'],
            ['INTERVAL', '1 to 52'],
            [
              'BYDAY',
              'WEEKLY: days such as MO,WE. MONTHLY: one ordinal and day, such as 2TU, or -1FR for the last Friday',
            ],
            ['BYSETPOS', 'MONTHLY: the ordinal, when BYDAY has none'],
            ['UNTIL', 'last date, such as 20270301'],
            ['COUNT', 'how many; turned into a last date'],
            ['WKST', 'MO; the weeks of the API begin on Monday'],
          ],
        },
        {
          code: [
            "molar events create --title Meeting --start 2026-12-07T08:00 --location 1000000000001 --recurrence 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20270301'",
          ],
        },
        'A rule that the API cannot express is refused with the reason, before any request: days, hours or years as a frequency, a day of the month, a fifth week.',
      ],
    },
    {
      heading: 'Changing a series',
      blocks: [
        'events update and events delete change one occurrence, or with --target series it and all later ones. --recurrence none on update ends the series.',
        "A recurrence is always sent whole. What an update does not name is taken from the event on the server; where nothing says on which date a series begins, that is the local date of the start of the event, in the zone of --timezone, else the configured one, else this computer's.",
      ],
    },
  ],
};
