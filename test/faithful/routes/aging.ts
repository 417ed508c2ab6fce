import type { Call, Reply, Route } from '../call.ts';
import { EQUAL, type Keys, type Operator, RANGE, readFilter } from '../filter.ts';
import { matches } from '../matching.ts';
import { decline, refuse } from '../refusal.ts';
import type { Fields, Owing } from '../store.ts';
import { amount, id, location, whole } from '../values.ts';

const AMOUNT: readonly Operator[] = ['==', '!=', ...RANGE];

const AMOUNTS: Keys = {
  balance: { operators: AMOUNT, kind: amount },
  thirtyDays: { operators: AMOUNT, kind: amount },
  sixtyDays: { operators: AMOUNT, kind: amount },
  ninetyDays: { operators: AMOUNT, kind: amount },
};

const KEYS: Keys = {
  'location.id': { operators: EQUAL, kind: location },
  'patient.id': { operators: ['->'], kind: id },
  page: { operators: EQUAL, kind: whole(1, 1e6) },
  ...AMOUNTS,
};

/** Transactions that are searched for one page. */
const LIMIT = 25;
const MOST_GUARANTORS = 50;

export const AGING_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/agingbalances/report', query: ['filter'], answer: report },
];

function report({ world, query }: Call): Reply {
  const terms = readFilter(query.get('filter') ?? refuse('filter is required.'), KEYS);
  const valuesOf = (name: string) => terms.find(({ key }) => key === name)?.values;
  const [place] = valuesOf('location.id') ?? refuse('location.id is required.');
  const guarantors = valuesOf('patient.id');
  const page = valuesOf('page')?.[0];
  if (!guarantors && page === undefined) refuse('patient.id or page is required.');
  if (guarantors && guarantors.length > MOST_GUARANTORS) refuse(`patient.id takes at most ${MOST_GUARANTORS} ids.`);
  const here = world.practice.owing.filter((owing) => place === 'ALL' || owing.location === place);
  const asked = guarantors ? here.filter(({ guarantor }) => guarantors.includes(guarantor)) : here;
  const amounts = terms.filter(({ key }) => key in AMOUNTS);
  const rows = (page === undefined ? asked : onPage(asked, Number(page)))
    .map((owing) => owing.report)
    .filter((row) => matches(row, amounts, AMOUNTS, true));
  const total = transactionsOf(asked);
  if (world.moods.emptyReports === 'notFound' && total === 0) decline(404, 'No data matches the filters.');
  return { data: summed(rows), meta: page === 1 ? { limit: LIMIT, total } : undefined };
}

/** Guarantors whose first transaction is searched for a page; there may be none. */
function onPage(owing: readonly Owing[], page: number): Owing[] {
  let before = 0;
  return owing.filter(({ transactions }) => {
    const found = Math.floor(before / LIMIT) + 1 === page;
    before += transactions;
    return found;
  });
}

function transactionsOf(owing: readonly Owing[]): number {
  return owing.reduce((sum, { transactions }) => sum + transactions, 0);
}

const BUCKETS = ['current', 'thirtyDays', 'sixtyDays', 'ninetyDays'] as const;
const PARTS = ['guarantorPortion', 'insurancePortion', 'writeOff'] as const;

/** The aggregates of a page: exact in cents. */
function summed(rows: readonly Fields[]): Fields {
  const sum = (of: (row: Fields) => unknown) =>
    rows.reduce((cents, row) => cents + Math.round(Number(of(row)) * 100), 0) / 100;
  const portion = (bucket: string) =>
    Object.fromEntries(PARTS.map((part) => [part, sum((row) => (row[`${bucket}Portion`] as Fields)[part])]));
  const total = sum((row) => BUCKETS.reduce((all, bucket) => all + Number(row[bucket]), 0));
  const credits = sum((row) => row.unAppliedCredits);
  const portions = BUCKETS.map(portion);
  return {
    ...Object.fromEntries(BUCKETS.map((bucket) => [`${bucket}Amount`, sum((row) => row[bucket])])),
    ...Object.fromEntries(BUCKETS.map((bucket, index) => [`${bucket}Portion`, portions[index]])),
    totalPortions: Object.fromEntries(
      PARTS.map((part) => [part, cents(portions.reduce((all, one) => all + Number(one[part]), 0))]),
    ),
    total,
    unappliedCreditsAmount: credits,
    balance: cents(total + credits),
    patientReports: rows,
  };
}

function cents(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}
