import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { list } from '../../catalog/fields/composites.ts';
import type { Fields } from '../../catalog/fields/kind.ts';
import { integer } from '../../catalog/fields/numbers.ts';
import { text } from '../../catalog/fields/text.ts';
import { date, dateTime } from '../../catalog/fields/times.ts';
import { readOnly } from '../../catalog/record.ts';
import { openingFields, openings } from '../../catalog/resources/reports.ts';
import { countText } from '../../core/count.ts';
import { usageFailure } from '../../core/failure.ts';
import { FORMATS } from '../../core/output/formats.ts';
import type { Row } from '../../core/pages/page.ts';
import { inCalendarOrder, openingCalendar, slotsOf } from '../../core/reports/openings.ts';
import { commonFlags, ResourceCommand, recordsOf } from '../crud/resourcecommand.ts';
import { filterFlags, readFilter } from '../flags/filters.ts';
import { localTimesFlag, readDestination, rowFlags } from '../flags/output.ts';
import type { FlagValues } from '../flags/values.ts';
import { zoneText } from '../flags/zone.ts';
import { readNames } from '../names/profilenames.ts';
import { singlePage, writeRows, writerOptions } from '../rows/output.ts';
import { withPlaces } from '../rows/places.ts';
import { planRows, type RowPlan } from '../rows/plan.ts';
import { writeReport } from './reportoutput.ts';

export const openingsFlags: FlagInput = {
  ...filterFlags(operationOf(openings, 'list').filters ?? {}),
  limit: { ...rowFlags.limit, summary: 'Stop after N slots (json, ndjson: N records of the API)' },
  all: { ...rowFlags.all, summary: 'Every slot; the default unless a table goes to a terminal' },
  sort: { ...rowFlags.sort, summary: `${rowFlags.sort.summary}; a table then has a slot a row` },
  ...localTimesFlag,
  ...commonFlags,
};

const linked = (target: string) => readOnly({ ...text(), parts: ['id'], target }, target);

/** Names of a record of the API; `--fields` takes parts of its links too. */
const API_FIELDS: Fields = { ...openingFields, provider: linked('Provider'), operatory: linked('Operatory') };

/** Columns of CSV, a slot a row. */
const SLOT_FIELDS: Fields = {
  day: readOnly(date(), 'Day, in the zone of the location'),
  provider: linked('Provider'),
  operatory: linked('Operatory'),
  start: readOnly(dateTime(), 'Start'),
  end: readOnly(dateTime(), 'End'),
  minutes: readOnly(integer(), 'Length in minutes'),
  bookingTypes: readOnly(list(text()), 'Booking types'),
  reasons: readOnly(list(integer()), 'Schedule template reasons'),
};

/** Free slots (D32): a calendar for people, a slot a row in CSV, the records of the API in JSON. */
export abstract class OpeningsCommand extends ResourceCommand {
  static override usage = '<%= command.id %> --location ID --from DATE --to DATE [FLAGS]';
  protected override readonly resource = openings;
  protected override readonly verb = 'list';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const filter = readFilter(flags, this.operation.filters ?? {});
    const { isTTY } = context.streams.stdout;
    const { format } = readDestination(flags, isTTY, 'csv', 'rows');
    const asApi = FORMATS[format].content === 'records';
    const fields = asApi ? API_FIELDS : SLOT_FIELDS;
    const plan = withPlaces(planRows(flags, fields, Object.keys(fields), isTTY), fields, flags, context.env);
    // A calendar has an order of its own.
    if (FORMATS[format].isForPeople && plan.sort === undefined) return this.showCalendar(plan, flags, filter);
    await writeRows({
      context,
      flags,
      plan,
      one: asApi ? openings.one : 'slot',
      many: asApi ? openings.many : 'slots',
      open: async () => {
        const items = await this.items(flags, filter);
        return singlePage((asApi ? items : slotsOf(items)).slice(0, plan.limit));
      },
      note: (text) => this.note(text),
    });
  }

  private async showCalendar(plan: RowPlan, flags: FlagValues, filter: string | undefined) {
    const { context } = this;
    if (plan.selection !== undefined) {
      throw usageFailure('--fields has no effect on the calendar; it goes with --sort and with other formats.', {
        source: '--fields',
      });
    }
    const notes: string[] = [];
    await writeReport(plan, context, async () => {
      const slots = inCalendarOrder(slotsOf(await this.items(flags, filter)));
      const shown = slots.slice(0, plan.limit);
      if (slots.length === 0)
        notes.push('No openings match; a location has some only where provider hours are set up.');
      if (slots.length === 0) return '';
      const options = writerOptions(plan.toTerminal, flags, context);
      const names = readNames(flags, context.env);
      const look = { ...options, clock: options.clock(), heading: zoneText(flags, context), names };
      const calendar = openingCalendar(shown, look);
      if (calendar.hidden.length > 0)
        notes.push(`The terminal is too narrow for: ${calendar.hidden.join(', ')}. Make it wider, or use --csv.`);
      if (plan.isDefaultLimit && shown.length < slots.length) {
        notes.push(`These are ${shown.length} of ${countText(slots.length)} openings. Add --all for every one.`);
      }
      return calendar.text;
    });
    for (const note of notes) await this.note(note);
  }

  private async items(flags: FlagValues, filter: string | undefined): Promise<readonly Row[]> {
    const { operation, context } = this;
    const client = await this.connect(flags);
    const query = { filter };
    return recordsOf(await client.request({ method: 'GET', path: pathOf(operation), query, signal: context.signal }));
  }
}
