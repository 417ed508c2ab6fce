import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { formatFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { production } from '../../catalog/resources/reports.ts';
import { bookedSql } from '../../core/office/appointments.ts';
import { daysAfter } from '../../core/office/calendar.ts';
import {
  checkProduction,
  groupRequests,
  type ProductionGroup,
  type ProductionQuery,
  productionColumns,
  productionPicture,
  readProduction,
  wholeRequests,
} from '../../core/office/production.ts';
import type { OfficeRow } from '../../core/office/result.ts';
import { allOf, idsSql, textSql } from '../../core/office/sqltext.ts';
import { withLocationFallback } from '../../core/pages/completefilters.ts';
import type { Row } from '../../core/pages/page.ts';
import { confirmWithoutData, isWithoutData } from '../../core/reports/withoutdata.ts';
import { recordsOf } from '../crud/resourcecommand.ts';
import { textFlag } from '../flags/values.ts';
import type { Access, Answer } from './asked.ts';
import type { DayRange } from './days.ts';
import { asking, type ReportSpec } from './spec.ts';
import { agreeing } from './sums.ts';

const GROUPS = ['location', 'provider', 'day'] as const satisfies readonly ProductionGroup[];

const OPERATION = operationOf(production, 'report');

/** The API's production report in groups, checked against the report without groups. */
export const productionReport: ReportSpec = {
  name: 'production',
  title: 'Scheduled production',
  many: 'groups',
  description: 'Net production scheduled, by location, provider or day',
  definition:
    "Booked appointments and their production less write-offs, as the API's report of scheduled net production gives them: those whose local day at their location is one of the days asked for, but for BROKEN, NO_SHOW and CANCELLEDBYOFFICE. Groups without appointments have no row. The sum of the groups has to be that of the report asked without groups.",
  flags: {
    by: asking.text(undefined, 'What a row is, location when not given', { options: GROUPS }),
    from: asking.text('DATE', 'First day, today when not given; such as 2026-11-24 or monday', { means: 'date' }),
    days: asking.text('N', 'How many days, 7 when not given'),
  },
  ask: (flags, reader) => {
    const { days, ...range } = reader.span('from', 'today', 7);
    const by = GROUPS.find((each) => each === textFlag(flags, 'by')) ?? 'location';
    return {
      filters: { by, ...range, days },
      columns: productionColumns(by),
      many: `${by}s`,
      order: [by === 'day' ? 'date' : `${by}.id`],
      requests: (setting) => {
        const query = { by, ...range, days, locations: setting.question.locations, timezone: setting.timezone };
        const groups = query.locations !== null && by === 'location' ? query.locations : [`EACH_${by.toUpperCase()}`];
        return [...groupRequests({ ...query, groups }), ...wholeRequests({ ...query, groups })].map(({ terms }) =>
          requestLine(terms),
        );
      },
      answer: (access) => answer(access, { by, ...range, days }, access.setting.question.locations),
      answerByLocation: async (access) => {
        const found = new Map<string, Answer>();
        for (const location of await locationsOf(access, range)) {
          found.set(location, await answer(access, { by, ...range, days }, [location]));
        }
        return found;
      },
      ...(by === 'day' && { picture: productionPicture }),
    };
  },
};

type Asked = Pick<ProductionQuery, 'by' | 'from' | 'days'> & DayRange;

async function answer(access: Access, asked: Asked, locations: readonly string[] | null): Promise<Answer> {
  const { setting } = access;
  const ask = await asker(access);
  const { rows, check } = await agreeing(async (isAgain) => {
    const groups = await groupsOf(access, asked, locations, isAgain);
    const read = await readProduction({ ...asked, locations, timezone: setting.timezone, groups }, ask);
    return { rows: read.rows, check: checkProduction(read) };
  });
  return { rows: rows.map((row) => named(row, asked.by, setting)), check };
}

function named(row: OfficeRow, by: ProductionGroup, { names }: Access['setting']): OfficeRow {
  return by === 'day' ? row : { ...row, [`${by}.name`]: names.nameOf(by, String(row[`${by}.id`])) ?? null };
}

/** The ids that are asked for one by one: those named, else those of booked appointments in the mirror. */
async function groupsOf(
  access: Access,
  { by, ...range }: Asked,
  locations: readonly string[] | null,
  isRenewed: boolean,
): Promise<readonly string[]> {
  if (by === 'day') return [];
  if (by === 'location' && locations !== null) return locations;
  return idsOf(access, `${by}_id`, range, locations, isRenewed);
}

/** Of an older mirror a new location would be missing, which no check of the others tells. */
async function locationsOf(access: Access, range: DayRange): Promise<readonly string[]> {
  return access.setting.question.locations ?? idsOf(access, 'location_id', range, null, true);
}

/** Ids that booked appointments of these days, and of the days around them in other zones, have in a column. */
async function idsOf(
  { mirror }: Access,
  column: string,
  { from, to }: DayRange,
  locations: readonly string[] | null,
  isRenewed: boolean,
): Promise<string[]> {
  const { rows } = await mirror(['appointments'], isRenewed);
  const conditions = allOf(
    `start >= ${textSql(daysAfter(from, -1))}`,
    `start < ${textSql(daysAfter(to, 3))}`,
    bookedSql('status'),
    locations === null ? '' : `location_id IN ${idsSql(locations)}`,
    `${column} IS NOT NULL`,
  );
  const { values } = rows(`SELECT DISTINCT ${column} FROM appointments WHERE ${conditions} ORDER BY 1`);
  return values.map(([id]) => String(id));
}

/** Items for a filter; none where the API answers that there are none, which is made sure of once. */
async function asker(access: Access): Promise<(terms: readonly RawTerm[]) => Promise<readonly Row[]>> {
  const { signal } = access;
  const client = await access.client();
  let confirmed: Promise<void> | undefined;
  return async (terms) => {
    const ask = (filter: string | undefined) =>
      client.request({ method: 'GET', path: pathOf(OPERATION), query: { filter }, signal });
    try {
      return recordsOf(await withLocationFallback(formatFilter(terms), OPERATION.filters, ask));
    } catch (cause) {
      if (!isWithoutData(cause)) throw cause;
      confirmed ??= confirmWithoutData(cause, client, signal);
      await confirmed;
      return [];
    }
  };
}

function requestLine(terms: readonly RawTerm[]): string {
  return `GET /api/v1${OPERATION.path}?filter=${formatFilter(terms)}`;
}
