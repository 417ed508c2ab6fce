import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { EXIT } from '../../catalog/failures.ts';
import { formatFilter, parseFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { production, productionFields } from '../../catalog/resources/reports.ts';
import { Failure, localFailure, usageFailure } from '../../core/failure.ts';
import { FORMATS } from '../../core/output/formats.ts';
import { withLocationFallback } from '../../core/pages/completefilters.ts';
import type { Row } from '../../core/pages/page.ts';
import { daysFrom, type ProductionDay, productionDay, productionTable } from '../../core/reports/production.ts';
import { confirmWithoutData, isWithoutData } from '../../core/reports/withoutdata.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import { asyncFlag, commonFlags, ResourceCommand, recordsOf } from '../crud/resourcecommand.ts';
import { filterFlags, readFilter } from '../flags/filters.ts';
import { reportFormat, rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn, textFlags } from '../flags/values.ts';
import { readClock, zoneFlags } from '../flags/zone.ts';
import { pingFlags } from '../ping.ts';
import { singlePage, writeRows, writerOptions } from '../rows/output.ts';
import { planRows, type RowPlan } from '../rows/plan.ts';
import { noFields, writeReport } from './reportoutput.ts';

export const productionFlags: FlagInput = {
  ...filterFlags(operationOf(production, 'report').filters ?? {}),
  ...asyncFlag(production),
  sort: rowFlags.sort,
  ...pingFlags,
  ...commonFlags,
  ...reportFormat,
  timezone: {
    ...zoneFlags.timezone,
    summary: "Time zone the days are counted in, the location's when not given; and of the times in xlsx and html",
  },
};

/** The column of cents is named for its unit, as CSV and spreadsheets carry no other sign of it. */
const CSV_NAMES: Readonly<Record<string, string>> = { scheduledAmount: 'scheduledAmountCents' };

/** Keys of `--sort`, which may be given as the columns of CSV. */
function withFieldNames(keys: string): string {
  return Object.entries(CSV_NAMES).reduce((text, [field, column]) => text.replaceAll(column, field), keys);
}

/** A day under the names of the fields that its items are summed from. */
function rowOfDay({ day, cents }: ProductionDay): Row {
  return { date: day, scheduledAmount: cents };
}

/** Scheduled net production (D33): days in dollars for people, items in cents for programs. */
export abstract class ProductionCommand extends ResourceCommand {
  static override usage = '<%= command.id %> --from DATE [FLAGS]';
  protected override readonly resource = production;
  protected override readonly verb = 'report';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    await this.pinged('molar locationproductionnetschedule report', flags, () => this.report(flags));
  }

  private async report(given: FlagValues): Promise<void> {
    // The zone is part of the question too.
    const flags = isOn(given, 'utc') ? { ...given, utc: false, timezone: 'UTC' } : given;
    const { context } = this;
    const isAsync = isOn(flags, 'async');
    if (isAsync) this.delivered = (client, filter) => this.deliver(client, filter, flags);
    const { filters = {} } = isAsync ? operationOf(production, 'async') : this.operation;
    const filter = readFilter(flags, filters);
    const terms = parseFilter(filter ?? '');
    const names = Object.keys(productionFields);
    const sort = textFlags(flags, 'sort').map(withFieldNames);
    const all = { ...flags, all: true, sort };
    const plan = planRows(all, productionFields, names, context.streams.stdout.isTTY, 'report');
    const { content, isForPeople } = FORMATS[plan.format];
    if (isForPeople || content === 'page') return this.showDays(plan, flags, terms);
    const columns = plan.columns.map((column) => ({ ...column, name: CSV_NAMES[column.name] ?? column.name }));
    await writeRows({
      context,
      flags,
      plan: { ...plan, columns },
      one: production.one,
      many: production.many,
      open: async () => {
        const client = await this.connect(flags);
        const items = await this.items(client, terms, plan.fields?.join(','));
        if (items === undefined) throw nothingScheduled(terms);
        return singlePage(items);
      },
      note: (text) => this.note(text),
    });
  }

  /** Requests day by day: only the server knows in which zone a location's days begin. */
  private async showDays(plan: RowPlan, flags: FlagValues, terms: readonly RawTerm[]): Promise<void> {
    const { context } = this;
    if (plan.selection !== undefined)
      throw noFields(FORMATS[plan.format].content === 'page' ? 'page' : 'table of days');
    const others = terms.filter(({ key }) => key !== 'fromDate' && key !== 'range');
    await writeReport(plan, context, async () => {
      const client = await this.connect(flags);
      const days: ProductionDay[] = [];
      for (const day of daysFrom(settingOf(terms, 'fromDate') ?? '', Number(settingOf(terms, 'range') ?? 1))) {
        const items = await this.items(client, [{ key: 'fromDate', operator: '==', values: [day] }, ...others]);
        days.push(readDay(day, items ?? []));
      }
      const shown = plan.sort === undefined ? days : plan.sort.order.sorted(days, rowOfDay);
      if (days.every(({ appointments }) => appointments === 0)) throw nothingScheduled(terms);
      if (FORMATS[plan.format].content === 'page') {
        const { productionHtml } = await import('../../core/reports/htmlproduction.ts');
        const made = { at: context.clock.now(), clock: readClock(flags, context) };
        return productionHtml(days, { filter: formatFilter(others), made, listed: shown });
      }
      return productionTable(shown, writerOptions(plan.toTerminal, flags, context));
    });
  }

  /** Items of the report, undefined when there are none. */
  private async items(
    client: ApiClient,
    terms: readonly RawTerm[],
    responseFields?: string,
  ): Promise<readonly Row[] | undefined> {
    const { operation, context } = this;
    const ask = (filter: string | undefined) =>
      client.request({
        method: 'GET',
        path: pathOf(operation),
        query: { filter, responseFields },
        signal: context.signal,
      });
    try {
      if (this.delivered !== undefined) return await this.delivered(client, formatFilter(terms));
      const rows = recordsOf(await withLocationFallback(formatFilter(terms), operation.filters, ask));
      return rows.length === 0 ? undefined : rows;
    } catch (cause) {
      if (!isWithoutData(cause)) throw cause;
      this.confirmed ??= confirmWithoutData(cause, client, context.signal);
      await this.confirmed;
      return undefined;
    }
  }

  /** Resolves when a response without data is known to be one of the API; requested once. */
  private confirmed: Promise<void> | undefined;

  private delivered: ((client: ApiClient, filter: string) => Promise<readonly Row[]>) | undefined;

  private async deliver(client: ApiClient, filter: string, flags: FlagValues): Promise<readonly Row[]> {
    const { deliveredReport } = await import('../streaming/delivery.ts');
    const note = (text: string) => this.note(text);
    const policy = this.connections(flags).retryPolicy();
    return deliveredReport(production, filter, 'date', { context: this.context, client, policy, note });
  }
}

function settingOf(terms: readonly RawTerm[], key: string): string | undefined {
  const [term, another] = terms.filter((each) => each.key === key);
  if (another !== undefined)
    throw usageFailure(`The filter names ${key} more than once; give it once.`, { source: key });
  return term?.values[0];
}

function readDay(day: string, items: readonly Row[]): ProductionDay {
  const read = productionDay(day, items);
  if (read !== undefined) return read;
  throw localFailure('response.malformed', `The server sent an amount for ${day} that is no whole number of cents.`);
}

function nothingScheduled(terms: readonly RawTerm[]): Failure {
  const range = Number(settingOf(terms, 'range') ?? 1);
  const when = `${range === 1 ? 'on' : `in the ${range} days from`} ${settingOf(terms, 'fromDate')}`;
  return new Failure(`No appointment is scheduled ${when}, with these filters.`, {
    code: 'record.not_found',
    exitCode: EXIT.notFound,
    status: 404,
    hint: 'Check the dates, the location and the organization; --range N takes more days.',
  });
}
