import { type LocalClock, minuteText } from '../output/localclock.ts';
import { dollarsText } from '../reports/money.ts';
import type { OfficeColumn, OfficeKind } from './report.ts';
import type { OfficeRow } from './result.ts';
import { words } from './wording.ts';

/** A column as people read it; several columns of CSV may be one of these. */
export interface ShownColumn {
  readonly title: string;
  readonly holds: 'numbers' | 'words' | 'names';
  /** The column of CSV whose sum stands below it; undefined where it has none. */
  readonly sumOf?: string;
  /** Several columns of CSV. */
  readonly isGroup?: true;
  readonly text: (row: OfficeRow, clock: LocalClock) => string;
}

/** Columns of CSV that are one thing: a patient, a location with its name, phones and whose they are. */
interface Group {
  readonly title: string;
  readonly holds: ShownColumn['holds'];
  readonly names: readonly string[];
  readonly text: (row: OfficeRow) => string;
}

const named = (name: string): Group => ({
  title: name,
  holds: 'words',
  names: [`${name}.id`, `${name}.name`],
  text: (row) => withId(textOf(row, `${name}.name`), textOf(row, `${name}.id`)),
});

const PHONES = ['phone', 'phone_2', 'phone_3'];

const GROUPS: readonly Group[] = [
  named('location'),
  named('provider'),
  named('operatory'),
  {
    title: 'patient',
    holds: 'words',
    names: ['patient.id', 'patient.firstName', 'patient.lastName'],
    text: (row) => {
      const names = ['patient.lastName', 'patient.firstName'].map((name) => textOf(row, name));
      return withId(names.filter((name) => name !== '').join(', '), textOf(row, 'patient.id'));
    },
  },
  {
    title: 'phones',
    holds: 'names',
    names: [...PHONES, 'phoneOf.id'],
    text: (row) => {
      const numbers = PHONES.map((name) => textOf(row, name)).filter((number) => number !== '');
      const owner = textOf(row, 'phoneOf.id');
      const isOther = numbers.length > 0 && owner !== '' && owner !== textOf(row, 'patient.id');
      return numbers.join('\n') + (isOther ? `\n(of ${owner})` : '');
    },
  },
];

/** The columns of a report as people read them: names with their ids, local times, dollars. */
export function shownColumns(columns: readonly OfficeColumn[]): ShownColumn[] {
  const names = columns.map(({ name }) => name);
  return columns.flatMap((column): ShownColumn[] => {
    const group = GROUPS.find((each) => each.names.includes(column.name));
    // Of a group that was chosen in part only that part is shown.
    if (group === undefined || !group.names.every((name) => names.includes(name))) return [single(column)];
    return group.names[0] === column.name ? [{ ...group, isGroup: true }] : [];
  });
}

const NUMBERS: readonly OfficeKind[] = ['cents', 'count', 'minutes'];

/** Text that is one of a few words, and never wraps. */
const ENUMERATED = ['status', 'ledgerType', 'change', 'missing', 'contactMethod', 'patient.contactMethod'];

/** The age of money, as reports of aging say it; with hyphens at which no line breaks. */
const TITLES: Readonly<Record<string, string>> = {
  currentCents: '0\u201130',
  thirtyDaysCents: '31\u201160',
  sixtyDaysCents: '61\u201190',
  ninetyDaysCents: 'over 90',
  unAppliedCreditsCents: 'credits',
};

function single({ name, kind }: OfficeColumn): ShownColumn {
  const [first = name, last = first] = name.split('.');
  const unit = kind === 'minutes' ? ' (min)' : '';
  return {
    title: TITLES[name] ?? words(last === 'id' ? first : last.replaceAll('_', ' ')) + unit,
    holds: NUMBERS.includes(kind) ? 'numbers' : kind === 'text' && !ENUMERATED.includes(name) ? 'words' : 'names',
    ...(kind === 'cents' && { sumOf: name }),
    text: (row, clock) => {
      const text = textOf(row, name);
      if (text === '') return '';
      if (kind === 'cents') return dollarsText(Number(text));
      if (kind === 'boolean') return text === 'true' || text === '1' ? 'yes' : 'no';
      return kind === 'instant' ? timeText(text, textOf(row, 'date'), clock) : text;
    },
  };
}

/** The time alone on the day that the row names. */
function timeText(instant: string, day: string, clock: LocalClock): string {
  const local = clock.at(instant);
  return local?.date === day ? `${local.time}${local.offset}` : minuteText(instant, clock);
}

function withId(name: string, id: string): string {
  return name === '' ? id : `${name} (${id})`;
}

function textOf(row: OfficeRow, name: string): string {
  return String(row[name] ?? '');
}
