import type { FailureCode, Problem } from '../../catalog/failures.ts';
import { isDate } from '../../catalog/fields/times.ts';
import { RECURRENCE_NAMES } from '../../catalog/recurrence/fields.ts';
import type { RuleDraft } from '../../core/recurrence/draft.ts';
import { type KnownStart, recurrenceOfDraft } from '../../core/recurrence/recurrence.ts';
import { looksLikeRRule, readRRule } from '../../core/recurrence/rrule.ts';
import { readShorthand } from '../../core/recurrence/shorthand.ts';
import { type FlagValues, textFlag, textFlags } from '../flags/values.ts';
import type { LocalTimes } from '../flags/zone.ts';
import { companionsGiven, fieldFlagsGiven, isSeries } from './eventflags.ts';

type Body = Readonly<Record<string, unknown>>;
type Mode = 'create' | 'update';
/** Reports a problem of a flag, of its format unless `code` says otherwise. */
type Report = (flag: string, description: string, code?: FailureCode) => undefined;

/** The recurrence fields of a rule, once the start of the event is known; undefined and a problem where they do not fit. */
export type RecurrenceOfStart = (start: KnownStart, problems: Problem[]) => Body | undefined;

/** A body with its recurrence. `pending`: the rest depends on the start of the event on the server. */
interface RecurrenceInput {
  readonly body: Body;
  readonly pending?: RecurrenceOfStart | undefined;
}

/** What a recurrence is read with. */
interface RecurrenceContext {
  readonly flags: FlagValues;
  readonly mode: Mode;
  readonly times: LocalTimes;
}

/** The body with the recurrence of `--recurrence` and its companions, unchanged without them; problems name flags. */
export function withRecurrence(
  body: Body,
  { flags, mode, times }: RecurrenceContext,
  problems: Problem[],
): RecurrenceInput {
  const report = reporter(problems);
  const recurrence = textFlag(flags, 'recurrence')?.trim();
  if (mode === 'update' && !isSeries(flags)) refuseOccurrence(flags, report);
  if (recurrence === undefined) {
    for (const name of companionsGiven(flags)) {
      report(name, `--${name} goes with --recurrence: add --recurrence weekly or monthly.`, 'field.conflict');
    }
    return { body };
  }
  refuseBoth(body, report);
  if (recurrence.toLowerCase() === 'none') return { body: withoutRecurrence(body, flags, mode, report) };
  const from = textFlag(flags, 'from')?.trim();
  const draft = readDraft(recurrence, flags, mode, report);
  if (from !== undefined && !isDate(from)) report('from', '--from must be a date that exists, written YYYY-MM-DD.');
  if (draft === undefined || (from !== undefined && !isDate(from))) return { body };
  const others = Object.fromEntries(Object.entries(body).filter(([name]) => !isRecurrenceName(name)));
  const ofStart: RecurrenceOfStart = (start, found) => {
    const onProblem = (description: string) => reporter(found)('recurrence', description);
    const fields = recurrenceOfDraft(draft, from, start, onProblem);
    return fields && Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  };
  const needsStart = from === undefined || draft.end?.kind === 'time';
  if (needsStart && mode === 'update' && others.start === undefined)
    return { body: { ...others, recurrenceType: draft.pattern.type }, pending: ofStart };
  return { body: { ...others, ...ofStart(needsStart ? startOf(body, times) : {}, problems) } };
}

function reporter(problems: Problem[]): Report {
  return (flag, description, code = 'field.format') => {
    problems.push({ code, source: `--${flag}`, description });
    return undefined;
  };
}

/** What is known of the local start of an event with these fields; nothing of a start that is no date-time. */
export function startOf({ start, allDay }: Body, times: LocalTimes): KnownStart {
  const local = typeof start === 'string' ? times.localOf(start.trim()) : undefined;
  if (local === undefined) return {};
  return allDay === true ? { ...local, second: 0 } : local;
}

/** Recurrence is the series' (specification, Endpoints, Events). */
function refuseOccurrence(flags: FlagValues, report: Report): void {
  const names = [...(textFlag(flags, 'recurrence') === undefined ? [] : ['recurrence']), ...fieldFlagsGiven(flags)];
  for (const name of names) {
    report(name, `--${name} changes the series, not one occurrence: add --target series.`, 'field.conflict');
  }
}

function refuseBoth(body: Body, report: Report): void {
  const twice = RECURRENCE_NAMES.filter((name) => body[name] !== undefined && body[name] !== null);
  if (twice.length === 0) return;
  const description = `--recurrence and ${twice.join(', ')} both say how the event recurs; give one of them.`;
  report('recurrence', description, 'field.conflict');
}

function withoutRecurrence(body: Body, flags: FlagValues, mode: Mode, report: Report): Body {
  if (mode === 'create') report('recurrence', 'A new event does not recur by default: leave out --recurrence none.');
  for (const name of companionsGiven(flags)) {
    report(name, `--${name} does not go with --recurrence none.`, 'field.conflict');
  }
  return { ...body, recurrenceType: null };
}

function readDraft(recurrence: string, flags: FlagValues, mode: Mode, report: Report): RuleDraft | undefined {
  const type = recurrence.toUpperCase();
  if (type === 'WEEKLY' || type === 'MONTHLY') {
    const words = { every: textFlag(flags, 'every'), on: textFlags(flags, 'on'), until: untilOf(flags) };
    return readShorthand({ type, ...words }, (part) => (description) => report(part, description));
  }
  if (looksLikeRRule(recurrence)) return readRule(recurrence, flags, report);
  const none = mode === 'update' ? ', none' : '';
  return report(
    'recurrence',
    `--recurrence takes weekly, monthly${none} or a rule, such as 'FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20270301'.`,
  );
}

function readRule(rule: string, flags: FlagValues, report: Report): RuleDraft | undefined {
  const given = companionsGiven(flags);
  const conflict = (name: string, part: string) =>
    report(name, `--${name} does not go with a rule: write ${part} in it.`, 'field.conflict');
  if (given.includes('every')) conflict('every', 'INTERVAL');
  if (given.includes('on')) conflict('on', 'BYDAY');
  const draft = readRRule(rule, (description) => report('recurrence', description));
  const until = untilOf(flags);
  if (draft === undefined || until === undefined) return draft;
  if (draft.end !== undefined) {
    return report('until', 'The rule says already where it ends; leave out --until.', 'field.conflict');
  }
  if (!isDate(until)) return report('until', '--until must be a date that exists, written YYYY-MM-DD.');
  return { ...draft, end: { kind: 'date', date: until } };
}

function untilOf(flags: FlagValues): string | undefined {
  return textFlag(flags, 'until')?.trim();
}

function isRecurrenceName(name: string): boolean {
  return RECURRENCE_NAMES.some((known) => known === name);
}
