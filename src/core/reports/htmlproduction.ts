import { countText, quantity } from '../count.ts';
import { htmlFigures, htmlPage, htmlTable, type MadeAt, verticalBars } from './htmlpage.ts';
import { dollarsText, usdText } from './money.ts';
import { nameOfDay, type ProductionDay } from './production.ts';

/** What the page shows. */
export interface ProductionPage {
  /** Filter except for the days, as text; empty for none. */
  readonly filter: string;
  /** The days in the order of the table; in their own when not given. */
  readonly listed?: readonly ProductionDay[];
  readonly made: MadeAt;
}

const COLOR = '#1f5f8b';
/** Maximum days whose names fit below the bars. */
const MAX_NAMED = 10;

/** Scheduled net production as a page to print: figures, a bar for each day, and the days with their total. */
export function productionHtml(
  days: readonly ProductionDay[],
  { filter, made, listed = days }: ProductionPage,
): string {
  const [first, last] = [days[0]?.day ?? '', days.at(-1)?.day ?? ''];
  const cents = days.reduce((sum, day) => sum + day.cents, 0);
  const appointments = days.reduce((sum, day) => sum + day.appointments, 0);
  const busy = days.filter((day) => day.appointments > 0).length;
  const bars = days.map(({ day, cents: amount }) => {
    const date = String(Number(day.slice(8)));
    return { label: days.length > MAX_NAMED ? date : `${nameOfDay(day)} ${date}`, cents: amount, color: COLOR };
  });
  const rows = listed.map((day) => [
    `${day.day} ${nameOfDay(day.day)}`,
    countText(day.appointments),
    dollarsText(day.cents),
  ]);
  return htmlPage({
    title: 'Scheduled net production',
    about: [first === last ? first : `${first} to ${last}`, ...(filter === '' ? [] : [`Filter: ${filter}`])],
    made,
    body: [
      htmlFigures([
        ['Scheduled', usdText(cents)],
        ['Appointments', countText(appointments)],
        ['Days with appointments', `${busy} of ${days.length}`],
      ]),
      verticalBars('Scheduled each day', bars),
      htmlTable(
        'Days',
        [
          { title: 'day', holds: 'names' },
          { title: 'appointments', holds: 'numbers' },
          { title: 'scheduled (USD)', holds: 'numbers' },
        ],
        rows,
        ['Total', countText(appointments), dollarsText(cents)],
      ),
    ],
    foot: `Check: ${days.length === 1 ? 'the day adds' : `the ${days.length} days add`} up to ${dollarsText(cents)}, from ${quantity(appointments, 'appointment')}.`,
  });
}
