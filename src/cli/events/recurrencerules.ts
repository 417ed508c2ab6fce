import type { Problem } from '../../catalog/failures.ts';
import type { Fields, ReadContext } from '../../catalog/fields/kind.ts';
import { readFields } from '../../catalog/record.ts';
import {
  checkRecurrence,
  NAMES_OF_TYPE,
  RECURRENCE_NAMES,
  type RecurrenceFields,
} from '../../catalog/recurrence/fields.ts';
import { endsInTime } from '../../catalog/recurrence/rule.ts';
import { eventFields } from '../../catalog/resources/events.ts';
import type { Row } from '../../core/pages/page.ts';
import type { BodyRules } from '../flags/body.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import type { LocalTimes } from '../flags/zone.ts';
import { isSeries } from './eventflags.ts';
import { type RecurrenceOfStart, startOf, withRecurrence } from './recurrenceinput.ts';

type Values = Readonly<Record<string, unknown>>;

/** What a recurrence is read from; `event` fetches the event to change. */
interface RecurrenceSource {
  readonly flags: FlagValues;
  readonly times: LocalTimes;
  readonly event?: () => Promise<Row>;
}

/**
 * Rules on the body of an event beside its fields. A recurrence is always sent completely (specification, Endpoints,
 * Events): a missing start is the local date of a new event, else what is missing comes from the event on the server.
 */
export function recurrenceRules({ flags, times, event }: RecurrenceSource): BodyRules {
  const mode = event === undefined ? 'create' : 'update';
  let pending: RecurrenceOfStart | undefined;
  let written: unknown;
  // The values have the start in UTC; its day follows from the offset that it was written with.
  const localStart = (values: Values, stored: Values = {}) =>
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
      if (event === undefined) return { ...values, recurrenceStart: values.recurrenceStart ?? localStart(values).date };
      if (pending === undefined && isComplete(values)) return values;
      const stored = readStored(await event(), times);
      if (pending === undefined) return completed(values, stored, () => localStart(values, stored).date);
      const fields = pending(localStart(values, stored), problems);
      return fields === undefined ? values : { ...values, ...fields };
    },
    check: (values) => (changesRecurrence(values, flags, mode) ? checkComplete(values, flags) : []),
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

function isComplete(values: Values): boolean {
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
  const all: Record<string, unknown> = { ...values };
  for (const name of missing) all[name] = stored[name];
  // A recurrence ends at most two years after its start, so a series that continues starts where it is changed.
  const [start, end] = [all.recurrenceStart, all.recurrenceEnd];
  const fits = typeof start === 'string' && typeof end === 'string' && endsInTime(start, end);
  if (missing.includes('recurrenceStart') && !fits) all.recurrenceStart = day();
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function checkComplete(values: Values, flags: FlagValues): Problem[] {
  const all = Object.fromEntries(RECURRENCE_NAMES.map((name) => [name, values[name] ?? null]));
  const problems = checkRecurrence(all as unknown as RecurrenceFields);
  if (problems.length === 0 && all.recurrenceStart === null) {
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
