import { countText } from '../count.ts';
import { minuteText } from '../output/localclock.ts';
import type { Style } from '../output/style.ts';
import { dollarsText, usdText } from '../reports/money.ts';
import { type ReportColumn, reportTable } from '../reports/reporttable.ts';
import type { OfficeColumn } from './report.ts';
import type { OfficeResult, OfficeRow } from './result.ts';
import { aboutLines, checkLine, type MoreTotal, moreTotals, withoutCents } from './wording.ts';

/** Form of a report on a terminal. */
export interface OfficeLook {
  /** Columns of the terminal; undefined where there is none, and then nothing is left out. */
  readonly width: number | undefined;
  readonly header: boolean;
  readonly style: Style;
  /** What its rows are: `appointments`. */
  readonly many: string;
  /** The columns were chosen, and stand as they are; otherwise those that belong together are one. */
  readonly isChosen: boolean;
}

/** Columns in the order in which a narrow terminal keeps them; others go first. */
const IMPORTANT = [
  ...['start', 'date', 'transactionDate', 'birthday', 'lastVisitDate', 'patient', 'overdueCents', 'amountCents'],
  ...[
    'depositCents',
    'scheduledCents',
    'appointments',
    'phone',
    'missing',
    'location.name',
    'status',
    'operatory.name',
  ],
  ...['ledgerType', 'balanceCents', 'provider.name', 'turns', 'monthsSince', 'end', 'lastPaymentDate', 'nextVisit'],
  ...[
    'duration',
    'emailAddress',
    'note',
    'change',
    'phone_2',
    'patient.id',
    'location.id',
    'operatory.id',
    'provider.id',
  ],
];

/** A report as text: title, filters, rows in dollars and local times, totals. `hidden`: columns that did not fit. */
export function officeTable(
  result: OfficeResult,
  look: OfficeLook,
): { readonly text: string; readonly hidden: readonly string[] } {
  const { title, rows, check } = result;
  const shown = look.isChosen ? result.columns.map((column) => plain(column, result)) : forPeople(result, look.header);
  const hasTotal = rows.length > 0 && result.columns.some(({ kind }) => kind === 'cents');
  const columns = hasTotal ? withTotal(shown, result) : shown;
  const { text, hidden } = reportTable(columns, { ...look, hasTotal });
  const about = aboutLines(result).map((line) => `${line}\n`);
  const lines = [countLine(result, look.many), ...groupLines(result), checkLine(check)].filter((line) => line !== '');
  const head = look.header ? `${look.style('heading', title)}\n${about.join('')}\n` : '';
  return { text: `${head}${rows.length === 0 ? '' : `${text}\n`}${lines.join('\n')}\n`, hidden };
}

interface Shown extends ReportColumn {
  /** The column of cents that it shows. */
  readonly money?: string;
}

function plain(column: OfficeColumn, { rows, clockOf, columns }: OfficeResult): Shown {
  const { name, kind } = column;
  const isTimeOfDay = kind === 'instant' && columns.some((other) => other.name === 'date');
  const cell = (row: OfficeRow): string => {
    const value = row[name];
    if (value === null || value === undefined) return '';
    if (kind === 'cents') return dollarsText(Number(value));
    if (kind === 'boolean') return value ? 'yes' : '';
    if (kind !== 'instant') return String(value);
    const text = minuteText(String(value), clockOf(row));
    return isTimeOfDay ? text.slice('YYYY-MM-DD '.length) : text;
  };
  return {
    title: kind === 'cents' ? withoutCents(name) : name,
    cells: rows.map(cell),
    ...(['cents', 'count', 'minutes'].includes(kind) && { isRight: true }),
    ...(kind === 'text' && { isTruncated: !/^phone/.test(name), minWidth: name === 'emailAddress' ? 18 : 8 }),
    ...(kind === 'cents' && { money: name }),
    rank: rankOf(name),
  };
}

/** The columns for people: names as one, ids beside the names there are, no column without a value, no date of which the header tells. */
function forPeople(result: OfficeResult, hasHeader: boolean): Shown[] {
  const { columns, rows, filters } = result;
  const isOneDay = hasHeader && !filters.some(({ label }) => label === 'Days');
  const isEmpty = ({ name }: OfficeColumn) => rows.every((row) => (row[name] ?? '') === '');
  const isShared = ({ name }: OfficeColumn) =>
    name === 'date' && isOneDay && columns.length > FEW && isSame(rows.map((row) => row[name]));
  return columns.flatMap((column): Shown[] => {
    const { name } = column;
    const [head = '', part] = name.split('.');
    const hasNames = rows.some((row) => (row[`${head}.name`] ?? null) !== null);
    if (part === 'name')
      return rows.some((row) => (row[`${head}.id`] ?? null) !== null) ? [namedColumn(head, rows)] : [];
    // Where nothing has a name, its column has the ids.
    if (isEmpty(column) || isShared(column) || (!hasNames && columns.some((each) => each.name === `${head}.name`)))
      return [];
    if (name === 'patient.firstName') return [];
    return name === 'patient.lastName' ? [patientColumn(rows)] : [plain(column, result)];
  });
}

/** Columns of a report that a terminal has room for, whatever they are. */
const FEW = 4;

/** Names of locations and the like; the id of what has none. */
function namedColumn(kind: string, rows: readonly OfficeRow[]): Shown {
  const cells = rows.map((row) => String(row[`${kind}.name`] ?? row[`${kind}.id`] ?? ''));
  // Half of an id is another one.
  const isTruncated = rows.every(
    (row) => (row[`${kind}.name`] ?? null) !== null || (row[`${kind}.id`] ?? null) === null,
  );
  return { title: kind, cells, rank: rankOf(`${kind}.name`), isTruncated, minWidth: 8 };
}

function isSame(values: readonly unknown[]): boolean {
  return new Set(values).size === 1;
}

function patientColumn(rows: readonly OfficeRow[]): Shown {
  const name = (row: OfficeRow) =>
    [row['patient.lastName'], row['patient.firstName']].filter((part) => part).join(', ');
  return { title: 'patient', cells: rows.map(name), rank: rankOf('patient'), isTruncated: true, minWidth: 18 };
}

/** What a narrow terminal drops first has the lowest rank. */
function rankOf(name: string): number {
  const at = IMPORTANT.indexOf(name);
  return at < 0 ? 0 : IMPORTANT.length - at;
}

function withTotal(columns: readonly Shown[], { totals }: OfficeResult): Shown[] {
  // In the column that a narrow terminal keeps longest.
  const [label] = columns.filter(({ isRight }) => isRight !== true).sort((a, b) => (b.rank ?? 0) - (a.rank ?? 0));
  return columns.map((column) => {
    const total = column.money === undefined ? undefined : totals[column.money];
    const text = typeof total === 'number' ? dollarsText(total) : column === label ? 'Total' : '';
    return { ...column, cells: [...column.cells, text] };
  });
}

/** `12 appointments, 11 patients`; amounts beside the sums of columns in dollars. */
function countLine({ totals, columns }: OfficeResult, many: string): string {
  const own = moreTotals(totals, columns).single.map((total) =>
    total.cents === undefined ? `${amountText(total)} ${total.label}` : `${total.label} ${amountText(total)}`,
  );
  return [`${countText(totals.count)} ${many}`, ...own].join(', ');
}

function groupLines({ totals, columns }: OfficeResult): string[] {
  return moreTotals(totals, columns).groups.flatMap(({ of }) =>
    of.map((total) => `  ${total.label}: ${amountText(total)}`),
  );
}

function amountText({ count, cents }: MoreTotal): string {
  const parts = [count === undefined ? '' : countText(count), cents === undefined ? '' : usdText(cents)];
  return parts.filter((part) => part !== '').join(', ');
}
