import type { Problem } from '../failures.ts';
import type { RecordOf } from '../record.ts';
import type { eventFields } from '../resources/events.ts';
import { datesOf, endsInTime, type RecurrenceRule } from './rule.ts';

export const RECURRENCE_NAMES = [
  'recurrenceType',
  'recurrenceStart',
  'recurrenceEnd',
  'recurrenceFrequency',
  'recurrenceDays',
  'recurrenceWeek',
  'recurrenceDay',
] as const;

export type RecurrenceName = (typeof RECURRENCE_NAMES)[number];

/** The recurrence of an event as its fields hold it; all null when it does not recur. */
export type RecurrenceFields = Pick<RecordOf<typeof eventFields>, RecurrenceName>;

/** The fields that only one type of recurrence has. */
export const NAMES_OF_TYPE = {
  WEEKLY: ['recurrenceDays'],
  MONTHLY: ['recurrenceWeek', 'recurrenceDay'],
} as const satisfies Record<'WEEKLY' | 'MONTHLY', readonly RecurrenceName[]>;

export const NO_RECURRENCE: RecurrenceFields = {
  recurrenceType: null,
  recurrenceStart: null,
  recurrenceEnd: null,
  recurrenceFrequency: null,
  recurrenceDays: null,
  recurrenceWeek: null,
  recurrenceDay: null,
};

export function recurrenceOf(fields: RecurrenceFields): RecurrenceFields {
  return Object.fromEntries(RECURRENCE_NAMES.map((name) => [name, fields[name]])) as unknown as RecurrenceFields;
}

/** Whether any field of a recurrence has a value. */
export function recurs(fields: RecurrenceFields): boolean {
  return RECURRENCE_NAMES.some((name) => fields[name] !== null);
}

/**
 * What is wrong with a recurrence (specification, Endpoints, Events; D39): the fields belong together, those of the other
 * type do not, it ends in time and has occurrences. `unread`: fields that were given but could not be read; nothing more
 * is said of them. `recurrenceStart` may be missing while the event's own start is unknown.
 */
export function checkRecurrence(fields: RecurrenceFields, unread: ReadonlySet<string> = new Set()): Problem[] {
  if (!recurs(fields) && !RECURRENCE_NAMES.some((name) => unread.has(name))) return [];
  const problems: Problem[] = [];
  const { recurrenceType: type } = fields;
  const needed: readonly RecurrenceName[] = type === null ? [] : NAMES_OF_TYPE[type];
  for (const name of ['recurrenceType', 'recurrenceEnd', 'recurrenceFrequency', ...needed] as const) {
    if (fields[name] !== null || unread.has(name)) continue;
    problems.push({ code: 'field.missing', source: name, description: `${name} is required for ${kindOf(type)}.` });
  }
  const strange = type === null ? [] : NAMES_OF_TYPE[type === 'WEEKLY' ? 'MONTHLY' : 'WEEKLY'];
  for (const name of strange) {
    if (fields[name] === null) continue;
    const description = `${name} does not go with recurrenceType ${type}; leave it out.`;
    problems.push({ code: 'field.conflict', source: name, description });
  }
  problems.push(...checkEnd(fields));
  const rule = problems.length > 0 ? undefined : ruleOf(fields);
  return rule === undefined || datesOf(rule).length > 0 ? problems : [noOccurrence(rule.start, rule.end)];
}

function kindOf(type: 'WEEKLY' | 'MONTHLY' | null): string {
  return type === null ? 'a recurring event' : `a ${type} recurrence`;
}

function checkEnd({ recurrenceStart: start, recurrenceEnd: end }: RecurrenceFields): Problem[] {
  if (start === null || end === null) return [];
  const problem = (code: 'field.conflict' | 'field.range', description: string): Problem[] => [
    { code, source: 'recurrenceEnd', description },
  ];
  if (end < start) return problem('field.conflict', `recurrenceEnd must not be before recurrenceStart (${start}).`);
  if (endsInTime(start, end)) return [];
  return problem('field.range', `recurrenceEnd must be at most 2 years after recurrenceStart (${start}).`);
}

export function noOccurrence(from: string, to: string): Problem {
  const description = `No day from ${from} to ${to} matches the recurrence.`;
  return { code: 'field.conflict', source: 'recurrenceEnd', description };
}

/** The rule that the fields say; undefined unless all that it needs are there. */
export function ruleOf(fields: RecurrenceFields): RecurrenceRule | undefined {
  const { recurrenceStart: start, recurrenceEnd: end, recurrenceFrequency: frequency } = fields;
  if (start === null || end === null || frequency === null) return undefined;
  const { recurrenceType: type, recurrenceDays: days, recurrenceWeek: week, recurrenceDay: day } = fields;
  if (type === 'WEEKLY') return days === null ? undefined : { type, start, end, frequency, days };
  if (type === null || week === null || day === null) return undefined;
  return { type, start, end, frequency, week, day };
}
