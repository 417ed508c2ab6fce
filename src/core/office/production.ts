import type { RawTerm } from '../../catalog/filter/grammar.ts';
import { localFailure } from '../failure.ts';
import { mapInOrder } from '../orderedmap.ts';
import type { Row } from '../pages/page.ts';
import { wholeNumber } from '../query/result.ts';
import { daysFrom, productionDay } from '../reports/production.ts';
import { type Agreement, agreement } from './agreement.ts';
import type { OfficeColumn } from './report.ts';
import type { OfficeRow, Picture } from './result.ts';

/** What the rows of the production report are grouped by. */
export type ProductionGroup = 'location' | 'provider' | 'day';

/** What the production report is asked for. */
export interface ProductionQuery {
  readonly by: ProductionGroup;
  /** `YYYY-MM-DD`. */
  readonly from: string;
  readonly days: number;
  /** Ids; null: all. */
  readonly locations: readonly string[] | null;
  /** The zone that days are counted in; each location's own where undefined. */
  readonly timezone: string | undefined;
  /** Ids of the locations or providers that may have appointments in these days; not needed for days. */
  readonly groups: readonly string[];
}

/** Items of the API's report for a filter; none where it answers 404. */
export type AskProduction = (terms: readonly RawTerm[]) => Promise<readonly Row[]>;

/** Appointments and net scheduled production in cents. */
interface Sum {
  readonly appointments: number;
  readonly cents: number;
}

const NOTHING: Sum = { appointments: 0, cents: 0 };

/** Days of one request at most (specification, Limits). */
const MAX_RANGE = 31;

/** Requests at a time. */
const CONCURRENCY = 3;

/** The columns of the report by its group. */
export function productionColumns(by: ProductionGroup): readonly OfficeColumn[] {
  const group: readonly OfficeColumn[] =
    by === 'day'
      ? [{ name: 'date', kind: 'date' }]
      : [
          { name: `${by}.id`, kind: 'id' },
          { name: `${by}.name`, kind: 'text' },
        ];
  return [...group, { name: 'appointments', kind: 'count' }, { name: 'scheduledCents', kind: 'cents' }];
}

/** The filters that the groups are asked for with, each with the row that it is a part of; undefined: no group. */
interface Request {
  readonly group: string;
  readonly terms: readonly RawTerm[];
}

/** A request for each group and each part of the days. Days are asked one by one: only the service knows where each begins. */
export function groupRequests(query: ProductionQuery): readonly Request[] {
  if (query.by === 'day') {
    return daysFrom(query.from, query.days).map((day) => ({ group: day, terms: termsOf(query, day, 1) }));
  }
  const { by } = query;
  return query.groups.flatMap((group) =>
    partsOf(query).map(([from, range]) => {
      const others = termsOf(by === 'location' ? { ...query, locations: null } : query, from, range);
      return { group, terms: [...others, { key: `${by}.id`, operator: '->', values: [group] } as const] };
    }),
  );
}

/** The requests for all of it, without groups, which the groups have to agree with. */
export function wholeRequests(query: ProductionQuery): readonly Request[] {
  return partsOf(query).map(([from, range]) => ({ group: '', terms: termsOf(query, from, range) }));
}

/** The rows of the report, and what the report without groups says. */
interface Production {
  readonly rows: readonly OfficeRow[];
  readonly expected: Sum;
}

/** Reads the groups, of which those without appointments have no row, and all of it. */
export async function readProduction(query: ProductionQuery, ask: AskProduction): Promise<Production> {
  const groups = await sums(groupRequests(query), ask);
  const whole = await sums(wholeRequests(query), ask);
  const rows = [...groups].flatMap(([group, { appointments, cents }]) =>
    appointments === 0 ? [] : [{ ...keyOf(query.by, group), appointments, scheduledCents: cents }],
  );
  return { rows, expected: whole.get('') ?? NOTHING };
}

/** Whether the groups are all of it; appointments without production count, too. */
export function checkProduction({ rows, expected }: Production): Agreement {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
  const [appointments, cents] = [sum('appointments'), sum('scheduledCents')];
  const money = agreement('Scheduled production', expected.cents, cents);
  if (appointments === expected.appointments) return money;
  const problem = `The API has ${expected.appointments} appointments, its groups have ${appointments}.`;
  return { ...money, agrees: false, problems: [...money.problems, problem] };
}

function keyOf(by: ProductionGroup, group: string): OfficeRow {
  return by === 'day' ? { date: group } : { [`${by}.id`]: wholeNumber(BigInt(group)) };
}

async function sums(requests: readonly Request[], ask: AskProduction): Promise<ReadonlyMap<string, Sum>> {
  const found = new Map<string, Sum>();
  const each = async ({ group, terms }: Request) => ({ group, sum: sumOf(await ask(terms)) });
  for await (const { group, sum } of mapInOrder(listed(requests), CONCURRENCY, each)) {
    const before = found.get(group) ?? NOTHING;
    found.set(group, { appointments: before.appointments + sum.appointments, cents: before.cents + sum.cents });
  }
  return found;
}

async function* listed<T>(all: readonly T[]): AsyncGenerator<T> {
  yield* all;
}

function sumOf(items: readonly Row[]): Sum {
  const sum = productionDay('', items);
  if (sum !== undefined) return sum;
  throw localFailure('response.malformed', 'The production report has an amount that is no whole number of cents.');
}

/** First day and length of each part. */
function partsOf({ from, days }: ProductionQuery): readonly (readonly [from: string, range: number])[] {
  const starts = daysFrom(from, days).filter((_, at) => at % MAX_RANGE === 0);
  return starts.map((start, at) => [start, Math.min(MAX_RANGE, days - at * MAX_RANGE)]);
}

function termsOf({ locations, timezone }: ProductionQuery, from: string, range: number): RawTerm[] {
  return [
    { key: 'fromDate', operator: '==', values: [from] },
    { key: 'range', operator: '==', values: [String(range)] },
    ...(locations === null ? [] : [{ key: 'location.id', operator: '->', values: locations } as const]),
    ...(timezone === undefined ? [] : [{ key: 'timezone', operator: '==', values: [timezone] } as const]),
  ];
}

/** What is scheduled each day. */
export function productionPicture(rows: readonly OfficeRow[]): Picture {
  const of = rows.map(({ date, scheduledCents }) => ({ label: String(date).slice(5), cents: Number(scheduledCents) }));
  return { title: 'Scheduled each day', bars: 'columns', of };
}
