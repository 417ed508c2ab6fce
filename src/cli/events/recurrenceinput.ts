import type { FailureCode, Problem } from '../../catalog/failures.ts';
import { isDate } from '../../catalog/fields/times.ts';
import { RECURRENCE_NAMES } from '../../catalog/recurrence/fields.ts';
import type { RuleDraft } from '../../core/recurrence/draft.ts';
import { type KnownStart, recurrenceOfDraft } from '../../core/recurrence/recurrence.ts';
import { looksLikeRRule, readRRule } from '../../core/recurrence/rrule.ts';
import { readShorthand } from '../../core/recurrence/shorthand.ts';
import type { LocalTimes } from '../flags/localtimes.ts';
import { type FlagValues, textFlag, textFlags } from '../flags/values.ts';
import { companionsGiven, fieldFlagsGiven } from './recurrenceflags.ts';
import { isSeries } from './target.ts';

type Body = Readonly<Record<string, unknown>>;
type Mode = 'create' | 'update';
/** Reports that a flag is at fault; a value that is wrong in itself unless `code` says otherwise. */
type Tell = (flag: string, description: string, code?: FailureCode) => undefined;

/** The recurrence fields of a rule, once the start of the event is known; undefined and a problem where they do not fit. */
export type RecurrenceOfStart = (start: KnownStart, problems: Problem[]) => Body | undefined;

/** A body with its recurrence. `pending`: only the start of the event on the server tells the rest of it. */
export interface RecurrenceInput {
  readonly body: Body;
  readonly pending?: RecurrenceOfStart | undefined;
}

interface Asking {
  readonly flags: FlagValues;
  readonly mode: Mode;
  readonly times: LocalTimes;
}

/**
 * The body with the recurrence fields that `--recurrence` and its companions say; as it is without them. What is
 * wrong goes to `problems`, sources are the flags as typed.
 */
export function withRecurrence(body: Body, { flags, mode, times }: Asking, problems: Problem[]): RecurrenceInput {
  const tell = telling(problems);
  const recurrence = textFlag(flags, 'recurrence')?.trim();
  if (mode === 'update' && !isSeries(flags)) refuseOccurrence(flags, tell);
  if (recurrence === undefined) {
    for (const name of companionsGiven(flags)) {
      tell(name, `--${name} goes with --recurrence: add --recurrence weekly or monthly.`, 'field.conflict');
    }
    return { body };
  }
  refuseBoth(body, tell);
  if (recurrence.toLowerCase() === 'none') return { body: withoutRecurrence(body, flags, mode, tell) };
  const from = textFlag(flags, 'from')?.trim();
  const draft = readDraft(recurrence, flags, mode, tell);
  if (from !== undefined && !isDate(from)) tell('from', '--from must be a date that exists, written YYYY-MM-DD.');
  if (draft === undefined || (from !== undefined && !isDate(from))) return { body };
  const others = Object.fromEntries(Object.entries(body).filter(([name]) => !isRecurrenceName(name)));
  const ofStart: RecurrenceOfStart = (start, found) => {
    const complain = (description: string) => telling(found)('recurrence', description);
    const fields = recurrenceOfDraft(draft, from, start, complain);
    return fields && Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  };
  const needsStart = from === undefined || draft.end?.kind === 'time';
  if (needsStart && mode === 'update' && others.start === undefined)
    return { body: { ...others, recurrenceType: draft.pattern.type }, pending: ofStart };
  return { body: { ...others, ...ofStart(needsStart ? startOf(body, times) : {}, problems) } };
}

function telling(problems: Problem[]): Tell {
  return (flag, description, code = 'field.format') => {
    problems.push({ code, source: `--${flag}`, description });
    return undefined;
  };
}

/** What is known of the local start of an event with these fields; nothing of a start that is no date-time. */
export function startOf({ start, allDay }: Body, times: LocalTimes): KnownStart {
  const place = typeof start === 'string' ? times.placeOf(start.trim()) : undefined;
  if (place === undefined) return {};
  return allDay === true ? { ...place, second: 0 } : place;
}

/** Recurrence is the series' (specification, Endpoints, Events). */
function refuseOccurrence(flags: FlagValues, tell: Tell): void {
  const names = [...(textFlag(flags, 'recurrence') === undefined ? [] : ['recurrence']), ...fieldFlagsGiven(flags)];
  for (const name of names) {
    tell(name, `--${name} changes the series, not one occurrence: add --target series.`, 'field.conflict');
  }
}

function refuseBoth(body: Body, tell: Tell): void {
  const twice = RECURRENCE_NAMES.filter((name) => body[name] !== undefined && body[name] !== null);
  if (twice.length === 0) return;
  const description = `--recurrence and ${twice.join(', ')} both say how the event recurs; give one of them.`;
  tell('recurrence', description, 'field.conflict');
}

function withoutRecurrence(body: Body, flags: FlagValues, mode: Mode, tell: Tell): Body {
  if (mode === 'create') tell('recurrence', 'An event does not recur unless told to: leave out --recurrence none.');
  for (const name of companionsGiven(flags)) {
    tell(name, `--${name} does not go with --recurrence none.`, 'field.conflict');
  }
  return { ...body, recurrenceType: null };
}

function readDraft(recurrence: string, flags: FlagValues, mode: Mode, tell: Tell): RuleDraft | undefined {
  const type = recurrence.toUpperCase();
  if (type === 'WEEKLY' || type === 'MONTHLY') {
    const words = { every: textFlag(flags, 'every'), on: textFlags(flags, 'on'), until: untilOf(flags) };
    return readShorthand({ type, ...words }, (part) => (description) => tell(part, description));
  }
  if (looksLikeRRule(recurrence)) return readRule(recurrence, flags, tell);
  const none = mode === 'update' ? ', none' : '';
  return tell(
    'recurrence',
    `--recurrence takes weekly, monthly${none} or a rule, such as 'FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20270301'.`,
  );
}

function readRule(rule: string, flags: FlagValues, tell: Tell): RuleDraft | undefined {
  const given = companionsGiven(flags);
  const conflict = (name: string, part: string) =>
    tell(name, `--${name} does not go with a rule: write ${part} in it.`, 'field.conflict');
  if (given.includes('every')) conflict('every', 'INTERVAL');
  if (given.includes('on')) conflict('on', 'BYDAY');
  const draft = readRRule(rule, (description) => tell('recurrence', description));
  const until = untilOf(flags);
  if (draft === undefined || until === undefined) return draft;
  if (draft.end !== undefined) {
    return tell('until', 'The rule says already where it ends; leave out --until.', 'field.conflict');
  }
  if (!isDate(until)) return tell('until', '--until must be a date that exists, written YYYY-MM-DD.');
  return { ...draft, end: { kind: 'date', date: until } };
}

function untilOf(flags: FlagValues): string | undefined {
  return textFlag(flags, 'until')?.trim();
}

function isRecurrenceName(name: string): boolean {
  return RECURRENCE_NAMES.some((known) => known === name);
}
