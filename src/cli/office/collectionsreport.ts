import { operationOf } from '../../catalog/catalog.ts';
import { formatFilter } from '../../catalog/filter/grammar.ts';
import { aging } from '../../catalog/resources/reports.ts';
import {
  COLLECTIONS_MONEY,
  checkCollections,
  collectionsPicture,
  type Overdue,
  overdueRows,
} from '../../core/office/collections.ts';
import { GUARANTOR_COLUMNS, guarantorsSql } from '../../core/office/guarantors.ts';
import type { OfficeColumn } from '../../core/office/report.ts';
import type { OfficeRow } from '../../core/office/result.ts';
import { RowReader } from '../../core/office/rowreader.ts';
import { type LocationAging, readLocation } from '../../core/reports/agingread.ts';
import { confirmWithoutData, isWithoutData } from '../../core/reports/withoutdata.ts';
import { textFlag } from '../flags/values.ts';
import type { Access, Answer } from './asked.ts';
import { asking, type ReportSpec } from './spec.ts';
import { agreeing } from './sums.ts';

const OPERATION = operationOf(aging, 'report');

/** Ages in days that `--over` takes. */
const AGES = ['30', '60', '90'];

/** Who and how to reach them, what they owe, and when they paid last and come next. */
const COLUMNS: readonly OfficeColumn[] = GUARANTOR_COLUMNS.flatMap((column) =>
  column.name === 'lastPaymentDate' ? [...COLLECTIONS_MONEY, column] : [column],
);

/** The API's aging report as a list of whom to call, checked against the sums that it states. */
export const collectionsReport: ReportSpec = {
  name: 'collections',
  title: 'Collections',
  many: 'guarantors',
  description: 'Guarantors with overdue balances, their phones, last payment and next visit',
  definition:
    "Guarantors of the API's aging report whose balance is above zero and who owe money that is older than --over days; --over 60 is the sum of the buckets 61-90 and over 90. Over several locations money is added, and pending claims are the largest number. The last payment is the latest active patient payment of the family, the next visit its first booked appointment from now on. Buckets and credits of all guarantors have to be the sums that the aging report states.",
  flags: { over: asking.text('DAYS', 'Owed for longer than this: 30, 60 or 90; 90 when not given', { options: AGES }) },
  ask: (flags) => {
    const over = Number(textFlag(flags, 'over') ?? 90) as Overdue;
    return {
      filters: { over },
      columns: COLUMNS,
      order: ['-overdueCents'],
      requests: ({ question }) => (question.locations ?? ['ALL']).map(requestLine),
      answer: (access) => answer(access, over, access.setting.question.locations ?? ['ALL']),
      answerByLocation: async (access) => {
        const found = new Map<string, Answer>();
        for (const location of await locationsOf(access)) found.set(location, await answer(access, over, [location]));
        return found;
      },
      picture: collectionsPicture,
    };
  },
};

async function answer(access: Access, over: Overdue, locations: readonly string[]): Promise<Answer> {
  const { rows, check } = await agreeing(async () => {
    const read = await readAging(access, locations);
    return { rows: overdueRows(read, over), check: checkCollections(read) };
  });
  return { rows: await withMirrored(rows, access), check };
}

/** The report of each location that has data; none where the API answers that there are none, which is made sure of. */
async function readAging({ client: connect, signal }: Access, locations: readonly string[]): Promise<LocationAging[]> {
  const client = await connect();
  const found: LocationAging[] = [];
  for (const location of locations) {
    try {
      found.push(await readLocation(client, OPERATION, { location, terms: [], guarantors: undefined, signal }));
    } catch (cause) {
      if (!isWithoutData(cause)) throw cause;
      await confirmWithoutData(cause, client, signal);
    }
  }
  return found;
}

/** Guarantors of one statement at most. */
const STEP = 1000;

/** Rows with what the mirror knows of their guarantors; one whom it does not have keeps what the API says. */
async function withMirrored(rows: readonly OfficeRow[], { mirror, setting }: Access): Promise<OfficeRow[]> {
  if (rows.length === 0) return [];
  const reader = await mirror(['patients', 'transactions', 'appointments']);
  const known = new Map<string, OfficeRow>();
  for (let at = 0; at < rows.length; at += STEP) {
    const ids = rows.slice(at, at + STEP).map((row) => String(row['patient.id']));
    const { names, values } = reader.rows(guarantorsSql(setting.question, ids));
    const read = new RowReader(GUARANTOR_COLUMNS, names, () => undefined);
    for (const row of values.map((each) => read.read(each))) known.set(String(row['patient.id']), row);
  }
  return rows.map((row) => ({ ...row, ...known.get(String(row['patient.id'])) }));
}

async function locationsOf({ mirror, setting }: Access): Promise<readonly string[]> {
  if (setting.question.locations !== null) return setting.question.locations;
  // Of an older one a new location would be missing, which no check of the others tells.
  const { rows } = await mirror(['transactions'], true);
  const { values } = rows('SELECT DISTINCT location_id FROM transactions WHERE location_id IS NOT NULL ORDER BY 1');
  return values.map(([id]) => String(id));
}

function requestLine(location: string): string {
  const page = { key: 'page', operator: '==', values: ['1'] } as const;
  const filter = formatFilter([{ key: 'location.id', operator: '==', values: [location] }, page]);
  return `GET /api/v1${OPERATION.path}?filter=${filter}, and its other pages`;
}
