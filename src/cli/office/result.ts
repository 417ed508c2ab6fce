import type { OfficeColumn } from '../../core/office/report.ts';
import type { OfficeResult, OfficeRow } from '../../core/office/result.ts';
import { inOrder, orderOf } from '../../core/office/roworder.ts';
import { totalsOf } from '../../core/office/totals.ts';
import { words } from '../../core/office/wording.ts';
import type { LocalClock } from '../../core/output/localclock.ts';
import { wholeNumber } from '../../core/query/result.ts';
import { nameOfDay } from '../../core/reports/production.ts';
import type { SortKey } from '../../core/sorting/roworder.ts';
import type { Answer, Asked, FilterValue, Setting } from './asked.ts';
import type { ReportSpec } from './spec.ts';

/** What makes a result of an answer. */
export interface ResultOrder {
  readonly spec: ReportSpec;
  readonly asked: Asked;
  readonly setting: Setting;
  /** Of `--sort`; the report's own order where undefined. */
  readonly keys: readonly SortKey[] | undefined;
  readonly limit: number | undefined;
  /** UTC milliseconds. */
  readonly now: number;
}

/** The result of a report, with what JSON says besides. */
export interface Result extends OfficeResult {
  readonly report: string;
  readonly many: string;
  readonly resolved: Readonly<Record<string, unknown>>;
}

/** Rows in their order, those beyond the limit left out, and the totals of all. */
export function resultOf(order: ResultOrder, answer: Answer, locations = order.setting.question.locations): Result {
  const { spec, asked, setting, keys, limit, now } = order;
  const { columns, filters } = asked;
  const { names } = setting;
  const sorted =
    keys === undefined
      ? inOrder(answer.rows, asked.order, columns, (kind, id) => names.orderOf(kind, id))
      : orderOf(keys, columns).sorted(answer.rows, (row) => row);
  return {
    ...{ report: spec.name, title: spec.title, many: asked.many ?? spec.many, columns, check: answer.check },
    resolved: { ...filters, locations: locations?.map(idValue) ?? null },
    filters: filterTexts(filters, locations, setting, columns),
    rows: sorted.slice(0, limit),
    totals: totalsOf(spec.name, columns, answer.rows),
    made: { at: now, clock: clockOf(setting)({}) },
    clockOf: clockOf(setting),
    ...(asked.picture !== undefined && { picture: asked.picture(sorted) }),
  };
}

/** The clock of a row: that of its location, else that of "today". */
export function clockOf({ zones, question }: Setting): (row: OfficeRow) => LocalClock {
  const today = zones.clock(zones.today(question.locations ?? []));
  return (row) => {
    const id = row['location.id'];
    return id === null || id === undefined ? today : zones.clock(zones.of(String(id)));
  };
}

/** An id of the command line as JSON has it, with all its digits. */
function idValue(id: string): number | bigint | string {
  return /^\d+$/.test(id) ? wholeNumber(BigInt(id)) : id;
}

/** What was asked for, in words. */
function filterTexts(
  filters: Readonly<Record<string, FilterValue>>,
  locations: readonly string[] | null,
  { names, zones, question }: Setting,
  columns: readonly OfficeColumn[],
): OfficeResult['filters'] {
  const own = Object.entries(filters).flatMap(([name, value]) => {
    const isNothing = value === null || value === false || (name === 'days' && (value === 1 || 'to' in filters));
    return isNothing ? [] : [{ label: capital(words(name)), text: valueText(value) + (UNITS[name] ?? '') }];
  });
  const nameOf = (id: string) => {
    const name = names.nameOf('location', id);
    return name === undefined ? id : `${name} (${id})`;
  };
  const where = { label: 'Locations', text: locations?.map(nameOf).join(', ') ?? 'all' };
  const today = zones.today(question.locations ?? []).zone;
  const zone = {
    label: 'Times',
    text: zones.areSeveral ? localText(zones, today) : today,
  };
  return [...own, where, ...(columns.some(({ kind }) => kind === 'instant') ? [zone] : [])];
}

/** Local times, with the zones of locations for which none is known, and of rows without a location. */
function localText(zones: Setting['zones'], today: string): string {
  const { zone } = zones.of(undefined);
  if (zone === today) return `local to each location; otherwise ${today}`;
  return `local; ${zone} without a zone, ${today} without a location`;
}

/** Units of numbers, where the name does not tell. */
const UNITS: Readonly<Record<string, string>> = { over: ' days' };

function valueText(value: FilterValue): string {
  if (value === true) return 'yes';
  if (Array.isArray(value)) return value.join(', ');
  const text = String(value);
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text} ${nameOfDay(text)}` : text;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
