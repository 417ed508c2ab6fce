import type { Problem } from '../../catalog/failures.ts';
import { checkRecurrence, RECURRENCE_NAMES, type RecurrenceFields } from '../../catalog/recurrence/fields.ts';
import type { BodyRules } from '../bodyinput.ts';
import { type FlagValues, textFlag } from '../flagvalues.ts';
import { knownStart } from './knownstart.ts';
import { withRecurrence } from './recurrenceinput.ts';

type Values = Readonly<Record<string, unknown>>;

/** What the body of an event has to obey beside its fields, for a command with these flags. */
export function recurrenceRules(flags: FlagValues, mode: 'create' | 'update'): BodyRules {
  return {
    complete: (body, problems) => withRecurrence(body, flags, mode, problems),
    check: (values) => checkWhole(values, flags, mode),
  };
}

/** Checks a recurrence that is all there: an update may name single fields, and the server knows the others. */
function checkWhole(values: Values, flags: FlagValues, mode: 'create' | 'update'): Problem[] {
  if (mode === 'update' && (textFlag(flags, 'recurrence') === undefined || values.recurrenceType === null)) return [];
  const fields = Object.fromEntries(RECURRENCE_NAMES.map((name) => [name, values[name] ?? null]));
  const whole = fields as unknown as RecurrenceFields;
  const recurs = Object.values(fields).some((value) => value !== null);
  const date = mode === 'create' ? knownStart(values).date : undefined;
  const recurrenceStart = whole.recurrenceStart ?? (recurs ? (date ?? null) : null);
  const problems = checkRecurrence({ ...whole, recurrenceStart });
  return textFlag(flags, 'recurrence') === undefined ? problems : problems.map((problem) => asTyped(problem, flags));
}

/** A problem of the fields in the words of the command line that made them. */
function asTyped(problem: Problem, flags: FlagValues): Problem {
  const end = textFlag(flags, 'until') === undefined ? 'The end of the rule' : '--until';
  const start = textFlag(flags, 'from') === undefined ? 'the start' : '--from';
  const description = problem.description.replaceAll('recurrenceEnd', end).replaceAll('recurrenceStart', start);
  return { ...problem, source: end.startsWith('--') ? end : '--recurrence', description };
}
