import { EXIT } from '../../catalog/failures.ts';
import { formatFilter } from '../../catalog/filter/grammar.ts';
import { aging } from '../../catalog/resources/reports.ts';
import { countText } from '../../core/count.ts';
import { Failure, LOCAL_FAILURES } from '../../core/failure.ts';
import { project } from '../../core/output/columns.ts';
import { FORMATS } from '../../core/output/formats.ts';
import type { Row } from '../../core/pages/page.ts';
import { type LocationAging, readLocation } from '../../core/reports/agingread.ts';
import {
  type AgingReport,
  agingReport,
  checkOf,
  fractionText,
  locationRow,
  locationRows,
  recordRows,
  totalRows,
  totalsRow,
} from '../../core/reports/agingreport.ts';
import { agingTable, agingTotals } from '../../core/reports/agingtext.ts';
import { confirmWithoutData, isWithoutData } from '../../core/reports/withoutdata.ts';
import type { ApiFailure } from '../../core/transport/apifailure.ts';
import { ResourceCommand } from '../crud/resourcecommand.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { readClock } from '../flags/zone.ts';
import { singlePage, writeRows, writerOptions } from '../rows/output.ts';
import { planRows, type RowPlan, shownLimit } from '../rows/plan.ts';
import { ProgressLine } from '../terminal/progress.ts';
import { type AgingQuery, GUARANTOR_FIELDS, readAgingQuery, TOTAL_FIELDS } from './agingquery.ts';
import { inPages, jsonDocument, mapped, noFields, writeReport } from './reportoutput.ts';

/** The aging report over any number of locations, checked against the server's own sums (D34, D35). */
export abstract class AgingCommand extends ResourceCommand {
  static override usage = '<%= command.id %> --location ID[,ID…]|ALL [FLAGS]';
  protected override readonly resource = aging;
  protected override readonly verb = 'report';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    await this.pinged('molar agingbalances report', flags, () => this.report(flags));
  }

  private async report(flags: FlagValues): Promise<void> {
    const { context } = this;
    const query = readAgingQuery(flags);
    const totalsOnly = isOn(flags, 'totals-only');
    const fields = totalsOnly ? TOTAL_FIELDS : GUARANTOR_FIELDS;
    const plan = planRows(flags, fields, Object.keys(fields), context.streams.stdout.isTTY, 'report');
    const { content, isForPeople, isBuffered } = FORMATS[plan.format];
    if (isForPeople) return this.showTable(plan, flags, query);
    if (content === 'page') return this.writePage(plan, flags, query);
    if (content === 'records' && isBuffered) {
      return writeReport(plan, context, async () => {
        const report = sound(await this.read(flags, query, plan));
        const shaped = (row: Row) => project(row, plan.selection);
        const locations = locationRows(report);
        return jsonDocument({
          ...(!totalsOnly && { records: mapped(guarantorRows(report, plan), shaped) }),
          locations: totalsOnly ? locations.slice(0, shownLimit(plan)).map(shaped) : locations,
          totals: totalsRow(report),
          check: checkOf(report),
        });
      });
    }
    await writeRows({
      context,
      flags,
      plan: { ...plan, sort: undefined },
      one: totalsOnly ? 'location' : aging.one,
      many: totalsOnly ? 'locations' : aging.many,
      open: async () => {
        const report = sound(await this.read(flags, query, plan));
        return totalsOnly
          ? singlePage(totalRows(report).slice(0, shownLimit(plan)))
          : inPages(guarantorRows(report, plan));
      },
      note: (text) => this.note(text),
    });
  }

  private async writePage(plan: RowPlan, flags: FlagValues, query: AgingQuery): Promise<void> {
    if (plan.selection !== undefined) throw noFields('page');
    const { agingHtml } = await import('../../core/reports/htmlaging.ts');
    await writeReport(plan, this.context, async () =>
      agingHtml(sound(await this.read(flags, query, plan)), {
        filter: formatFilter(query.terms),
        limit: isOn(flags, 'totals-only') ? 0 : shownLimit(plan),
        order: plan.sort?.order,
        made: { at: this.context.clock.now(), clock: readClock(flags, this.context) },
      }),
    );
  }

  private async showTable(plan: RowPlan, flags: FlagValues, query: AgingQuery): Promise<void> {
    const columns = plan.selection === undefined ? undefined : plan.columns;
    const options = writerOptions(plan.toTerminal, flags, this.context);
    const look = { ...options, limit: shownLimit(plan), order: plan.sort?.order, columns };
    const totalsOnly = isOn(flags, 'totals-only');
    let report: AgingReport | undefined;
    let hidden: readonly string[] = [];
    await writeReport(plan, this.context, async () => {
      report = await this.read(flags, query, plan);
      // A person sees the figures beside the error; a file is replaced by correct ones only.
      if (plan.out !== undefined) sound(report);
      const table = totalsOnly ? undefined : agingTable(report, look);
      hidden = table?.hidden ?? [];
      return `${table === undefined ? '' : `${table.text}\n`}${agingTotals(report, look)}`;
    });
    if (report === undefined) return;
    await this.noteLimits(plan, report, totalsOnly, hidden);
    sound(report);
  }

  private async noteLimits(plan: RowPlan, report: AgingReport, totalsOnly: boolean, hidden: readonly string[]) {
    if (hidden.length > 0)
      await this.note(`The terminal is too narrow for: ${hidden.join(', ')}. Make it wider, or use --csv.`);
    const rows = report.locations.reduce((sum, { guarantors }) => sum + guarantors.length, 0);
    const limit = shownLimit(plan) ?? rows;
    if (totalsOnly || !plan.isDefaultLimit || rows <= limit) return;
    const which = plan.sort === undefined ? `the ${limit} with the oldest money` : `the first ${limit}`;
    const shown = `${which} of ${countText(rows)} guarantors`;
    await this.note(`These are ${shown}; totals are of all. Add --all for every one.`);
  }

  /** The report; `--sort` with `--totals-only` sorts its locations. */
  private async read(flags: FlagValues, query: AgingQuery, { sort }: RowPlan): Promise<AgingReport> {
    const { context, operation } = this;
    const { signal } = context;
    const client = await this.connect(flags);
    const progress = new ProgressLine(context, isOn(flags, 'quiet'));
    const found: LocationAging[] = [];
    const without: ApiFailure[] = [];
    try {
      for (const location of query.locations) {
        const onPage = (page: number, pages: number) =>
          progress.show(() => `location ${location}, page ${page} of ${pages}`);
        try {
          found.push(await readLocation(client, operation, { ...query, location, signal, onPage }));
        } catch (cause) {
          if (!isWithoutData(cause)) throw cause;
          without.push(cause);
          if (query.locations.length > 1) await this.note(`${nameOf(location)} has no data: ${reasonOf(cause)}`);
        }
        signal.throwIfAborted();
      }
    } finally {
      await progress.stop();
    }
    const [first] = without;
    if (found.length === 0 && first !== undefined) await confirmWithoutData(first, client, signal);
    if (found.length === 0) throw withoutData(without, query.locations.length);
    for (const { location, changed } of found) {
      if (changed)
        await this.note(
          `${nameOf(location)}: transactions were entered while its pages were read; some may be missing.`,
        );
    }
    const isSorted = sort !== undefined && isOn(flags, 'totals-only');
    const report = agingReport(isSorted ? sort.order.sorted(found, locationRow) : found);
    const fractions = fractionText(report);
    if (fractions.length > 0) await this.note(`${fractions.join('; ')}. Sums are exact, and shown rounded to cents.`);
    return report;
  }
}

/** Records of all locations as rows: in the order of `--sort`, else by location and id. */
function guarantorRows(report: AgingReport, { sort, limit }: RowPlan): Iterable<Row> {
  if (sort === undefined) return recordRows(report, limit);
  return sort.order.sorted([...recordRows(report)], (row) => row).slice(0, sort.limit);
}

function nameOf(location: string): string {
  return location === 'ALL' ? 'The organization' : `Location ${location}`;
}

function reasonOf({ problems, message }: ApiFailure): string {
  return problems[0]?.description ?? message;
}

/** No location has data, exit 4; for one location with the server's own reason. */
function withoutData(failures: readonly ApiFailure[], locations: number): Failure {
  const [first] = failures;
  const message = first === undefined || locations > 1 ? 'None of the locations has data.' : reasonOf(first);
  return new Failure(message, {
    code: first?.code ?? 'record.not_found',
    exitCode: EXIT.notFound,
    status: 404,
    requestId: first?.requestId ?? null,
    items: failures.flatMap(({ items }) => items),
    hint: 'Check the location ids and the organization; a location without transactions has no report.',
    cause: first,
  });
}

/** The report, unless the server's own sums disagree, which makes all of it unreliable (exit 8). */
function sound(report: AgingReport): AgingReport {
  const { problems } = report;
  if (problems.length === 0) return report;
  const count = problems.length === 1 ? 'one difference' : `${problems.length} differences`;
  const code = 'response.malformed';
  throw new Failure(`The server's own sums disagree, so the report is not to be relied on: ${count}.`, {
    code,
    exitCode: LOCAL_FAILURES[code].exit,
    items: problems.map((description) => ({ code, description, source: null })),
    hint: 'Run it again; if it persists, report the locations and pages named to the operator of the server.',
  });
}
