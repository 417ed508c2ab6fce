import type { Problem } from '../../catalog/failures.ts';
import type { ReadContext } from '../../catalog/fields/kind.ts';
import { type Fields, readFields } from '../../catalog/record.ts';
import {
  checkRecurrence,
  NAMES_OF_TYPE,
  RECURRENCE_NAMES,
  type RecurrenceFields,
} from '../../catalog/recurrence/fields.ts';
import { endsInTime } from '../../catalog/recurrence/rule.ts';
import { eventFields } from '../../catalog/resources/events.ts';
import type { Row } from '../../core/pages/page.ts';
import type { BodyRules } from '../flags/bodyinput.ts';
import type { LocalTimes } from '../flags/localtimes.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import { type RecurrenceOfStart, startOf, withRecurrence } from './recurrenceinput.ts';
import { isSeries } from './target.ts';

type Values = Readonly<Record<string, unknown>>;

/** What a recurrence is read with; `event` gives the event to change as it is on the server. */
export interface RecurrenceReading {
  readonly flags: FlagValues;
  readonly times: LocalTimes;
  readonly event?: () => Promise<Row>;
}

/**
 * What the body of an event has to obey beside its fields. A recurrence is always sent whole, with `recurrenceStart`
 * (specification, Endpoints, Events): what a new event leaves out is the local date of its start, what an update leaves
 * out is taken from the event on the server.
 */
export function recurrenceRules({ flags, times, event }: RecurrenceReading): BodyRules {
  const mode = event === undefined ? 'create' : 'update';
  let pending: RecurrenceOfStart | undefined;
  let written: unknown;
  // The values have the start in UTC; the offset that it was written with tells its day.
  const placed = (values: Values, stored: Values = {}) =>
    startOf({ ...stored, ...values, ...(typeof written === 'string' && { start: written }) }, times);
  return {
    complete(body, problems) {
      const read = withRecurrence(body, { flags, mode, times }, problems);
      pending = read.pending;
      written = body.start;
      return read.body;
    },
    async finish(values, problems) {
      if (!changesRecurrence(values, flags, mode)) return values;
      if (event === undefined) return { ...values, recurrenceStart: values.recurrenceStart ?? placed(values).date };
      if (pending === undefined && isWhole(values)) return values;
      const stored = readStored(await event(), times);
      if (pending === undefined) return completed(values, stored, () => placed(values, stored).date);
      const fields = pending(placed(values, stored), problems);
      return fields === undefined ? values : { ...values, ...fields };
    },
    check: (values) => (changesRecurrence(values, flags, mode) ? checkWhole(values, flags) : []),
  };
}

/** Whether a body says how the event recurs: not by ending the series, and not of one occurrence, where nothing may. */
function changesRecurrence(values: Values, flags: FlagValues, mode: 'create' | 'update'): boolean {
  const given = RECURRENCE_NAMES.filter((name) => values[name] !== undefined);
  if (mode === 'create') return given.some((name) => values[name] !== null);
  return isSeries(flags) && given.length > 0 && values.recurrenceType !== null;
}

const COMMON = ['recurrenceType', 'recurrenceStart', 'recurrenceEnd', 'recurrenceFrequency'] as const;

function namesOf({ recurrenceType: type }: Values) {
  return [...COMMON, ...(type === 'WEEKLY' || type === 'MONTHLY' ? NAMES_OF_TYPE[type] : [])];
}

function isWhole(values: Values): boolean {
  return values.recurrenceType !== undefined && namesOf(values).every((name) => values[name] !== undefined);
}

/** Fields of an event that a service sent, as the catalog reads them; what it cannot read is left out. */
function readStored(event: Row, times: LocalTimes): Values {
  const context: ReadContext = {
    problems: [],
    warnings: [],
    mode: 'import',
    forService: true,
    instantOf: times.instantOf,
  };
  const known = [...RECURRENCE_NAMES, 'start', 'allDay'].filter(
    (name) => event[name] !== undefined && event[name] !== null,
  );
  return readFields(eventFields as Fields, Object.fromEntries(known.map((name) => [name, event[name]])), context);
}

/** The values with what they leave out of the recurrence, as it is on the server; `day` gives the local date of the start. */
function completed(values: Values, stored: Values, day: () => string | undefined): Values {
  const recurrenceType = values.recurrenceType ?? stored.recurrenceType;
  const missing = namesOf({ recurrenceType }).filter((name) => values[name] === undefined);
  const whole: Record<string, unknown> = { ...values };
  for (const name of missing) whole[name] = stored[name];
  // What counts from a date is to end at most two years later, so a series that goes on counts from where it is changed.
  const [start, end] = [whole.recurrenceStart, whole.recurrenceEnd];
  const fits = typeof start === 'string' && typeof end === 'string' && endsInTime(start, end);
  if (missing.includes('recurrenceStart') && !fits) whole.recurrenceStart = day();
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
}

function checkWhole(values: Values, flags: FlagValues): Problem[] {
  const whole = Object.fromEntries(RECURRENCE_NAMES.map((name) => [name, values[name] ?? null]));
  const problems = checkRecurrence(whole as unknown as RecurrenceFields);
  if (problems.length === 0 && whole.recurrenceStart === null) {
    const description = 'recurrenceStart is required for a recurring event.';
    problems.push({ code: 'field.missing', source: 'recurrenceStart', description });
  }
  return textFlag(flags, 'recurrence') === undefined ? problems : problems.map((problem) => asTyped(problem, flags));
}

/** A problem of the fields in the words of the command line that made them. */
function asTyped(problem: Problem, flags: FlagValues): Problem {
  const end = textFlag(flags, 'until') === undefined ? 'The end of the rule' : '--until';
  const start = textFlag(flags, 'from') === undefined ? 'the start' : '--from';
  const description = problem.description.replaceAll('recurrenceEnd', end).replaceAll('recurrenceStart', start);
  return { ...problem, source: end.startsWith('--') ? end : '--recurrence', description };
}
